// SPDX-License-Identifier: Apache-2.0
#include "toy.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <deque>
#include <functional>
#include <mutex>

#include "accelerators/cuda/module/gather.hpp"
#include "prim/cuda/launch.hpp"
#include "prim/drbg/cuda/coin_block.hpp"
#include "schemes/device_schemes.hpp"

extern "C" const polykem::cuda::ModuleTable* polykem_cuda_module();

namespace polykem::cuda::test {

// Records are computed in arrays that compilers know not to overlap, since tests spend most time here.
void secret_of(uint8_t* ss, const uint8_t* r, const uint8_t* pk) {
  static_assert(kPk == kCoins && kSs == 2 * kCoins);
  std::array<uint8_t, kSs> out;
  for (size_t i = 0; i < kCoins; ++i) {
    out[i] = static_cast<uint8_t>(r[i] * 3 + pk[i] * 7 + i);
    out[i + kCoins] = static_cast<uint8_t>(out[i] + kCoins);
  }
  std::memcpy(ss, out.data(), kSs);
}

namespace {

using Work = std::function<void()>;

void run_work(const Work* work) {
  (*work)();
}

}  // namespace

/// Keeps the work, because it may be recorded and replayed.
cudaError_t launch_work(std::function<void()> work, cudaStream_t stream) {
  static std::mutex mutex;
  static auto& kept = *new std::deque<Work>;  // never destroyed
  const Work* last = nullptr;
  {
    const std::lock_guard lock(mutex);
    last = &kept.emplace_back(std::move(work));
  }
  return launch(run_work, 1, 1, 0, stream, last);
}

namespace {

/// An expanded key is the public key and this mark, by which a test sees that it was used.
constexpr uint8_t kMark = 0x5a;

int expand_keys(std::byte* out, const uint8_t* keys, size_t count, std::byte*, void*) {
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = 0; j < kPk; ++j)
      out[i * kExpandedBytes + j] = static_cast<std::byte>(keys[i * kSk + j] + 1);
    out[i * kExpandedBytes + kPk] = static_cast<std::byte>(kMark);
  }
  return 0;
}

/// An item whose ciphertext ends with 0xee is malformed.
void check_ciphertexts(const DeviceBatch& b) {
  for (size_t i = 0; i < b.count && b.item_status != nullptr; ++i)
    if (b.ct[i * kCt + kCoins] == 0xee) b.item_status[i] = Status::kSecretKey;
}

/// The coins of an item are in the workspace, for the second step.
void make_coins(const DeviceBatch& b, std::byte* workspace) {
  if (b.coins != nullptr) {
    std::memcpy(workspace, b.coins, b.count * kCoins);
    return;
  }
  const auto* seed = reinterpret_cast<const uint8_t*>(b.seed);
  std::array<uint8_t, kCoins> both, own;
  for (size_t j = 0; j < kCoins; ++j)
    both[j] = static_cast<uint8_t>(seed[j] + seed[j + 16]);
  for (size_t i = 0; i < b.count; ++i) {
    for (size_t j = 0; j < kCoins; ++j)
      own[j] = static_cast<uint8_t>(both[j] + (i >> (8 * (j % 4))) * 251);
    std::memcpy(workspace + i * kCoins, own.data(), kCoins);
  }
}

void compute_sk(const DeviceBatch& b, const std::byte* workspace) {
  const auto* r = reinterpret_cast<const uint8_t*>(workspace);
  for (size_t i = 0; i < b.count; ++i, r += kCoins) {
    std::memcpy(b.sk_out + i * kSk, r, kCoins);
    std::memcpy(b.sk_out + i * kSk + kCoins, r, kCoins);
  }
}

void compute(Op op, const DeviceBatch& b, const std::byte* workspace) {
  const auto* r = reinterpret_cast<const uint8_t*>(workspace);
  for (size_t i = 0; i < b.count; ++i, r += kCoins) {
    const size_t key = b.shared_key ? 0 : i;
    std::array<uint8_t, kPk> pk;
    if (op == Op::kKeygen) {
      for (size_t j = 0; j < kPk; ++j)
        pk[j] = static_cast<uint8_t>(r[j] + 1);
      std::memcpy(b.pk_out + i * kPk, pk.data(), kPk);
    } else if (op == Op::kEncaps) {
      std::memcpy(b.ct_out + i * kCt, r, kCoins);
      b.ct_out[i * kCt + kCoins] = b.pk[key * kPk];
      secret_of(b.ss_out + i * kSs, r, b.pk + key * kPk);
    } else {
      for (size_t j = 0; j < kPk; ++j)
        pk[j] = b.expanded.data != nullptr ? static_cast<uint8_t>(b.expanded.key(i)[j])
                                           : static_cast<uint8_t>(b.sk[key * kSk + j] + 1);
      if (b.expanded.data != nullptr && b.expanded.key(i)[kPk] == static_cast<std::byte>(kMark)) ++marks_seen;
      secret_of(b.ss_out + i * kSs, b.ct + i * kCt, pk.data());
    }
  }
}

template <Op kOp>
int run_step(size_t step, size_t tile, const DeviceBatch& batch, std::byte* workspace, void* stream) {
  const auto work = [=] {
    if (step == 0 && kOp != Op::kDecaps) make_coins(batch, workspace);
    if (step == 0 && kOp == Op::kDecaps) check_ciphertexts(batch);
    if (step == 1 && kOp == Op::kKeygen) compute_sk(batch, workspace);
    if (step == 1 && kOp == Op::kEncaps && tile < kTiles) ++tiles_run;
    if (step == 2) compute(kOp, batch, workspace);
  };
  return launch_work(work, static_cast<cudaStream_t>(stream));
}

size_t workspace_bytes(size_t items) {
  return (items * kCoins + 255) / 256 * 256;
}

constexpr DeviceStep kCoinStep{{"coins", 0, 1}, field::kCoins, 0}, kComputeSk{{"compute_sk", 1, 1}, 0, field::kSkOut};
constexpr DeviceStep kSkip{{"compute_sk", 1, 1}, 0, 0}, kTiled{{"tiled", 1, 1, true}, 0, 0};
constexpr std::array<DeviceStep, 3> kKeygenSteps = {kCoinStep, kComputeSk, {{"compute", 2, 1}, 0, field::kPkOut}};
constexpr std::array<DeviceStep, 3> kEncapsSteps = {
    kCoinStep, kTiled, {{"compute", 2, 1}, field::kPk, field::kCtOut | field::kSsOut}};
constexpr std::array<DeviceStep, 3> kDecapsSteps = {DeviceStep{{"check", 0, 1}, field::kCt, field::kItemStatus},
                                                    kSkip,
                                                    {{"compute", 2, 1}, field::kSk | field::kCt, field::kSsOut}};

template <Op kOp>
constexpr DeviceOperation kOperation = {.scheme = "toy",
                                        .op = kOp,
                                        .record_bytes = {kPk, kSk, kCt, kSs, kOp == Op::kDecaps ? 0 : kCoins},
                                        .steps = kOp == Op::kKeygen   ? std::span<const DeviceStep>(kKeygenSteps)
                                                 : kOp == Op::kEncaps ? std::span<const DeviceStep>(kEncapsSteps)
                                                                      : std::span<const DeviceStep>(kDecapsSteps),
                                        .part_items = 8192,
                                        .staged_bytes = size_t{4} << 20,
                                        .min_items = 64,
                                        .max_items = 1 << 30,
                                        .workspace_bytes = workspace_bytes,
                                        .tiles = [](const DeviceBatch&) { return kTiles; },
                                        .run_step = run_step<kOp>};

/// The same scheme, except that the last step of each operation fills the device.
DeviceScheme with_filling_step(DeviceScheme scheme) {
  static std::array<std::array<DeviceStep, 3>, kOpsPerSet> steps;
  scheme.name = "filling";
  for (size_t i = 0; i < kOpsPerSet; ++i) {
    std::copy_n(scheme.operations[i].steps.begin(), steps[i].size(), steps[i].begin());
    steps[i].back().fills_device = true;
    scheme.operations[i].steps = steps[i];
  }
  return scheme;
}

std::atomic<size_t> batches{0};

std::array<uint8_t, kSeedBytes> seed_of(size_t batch) {
  std::array<uint8_t, kSeedBytes> seed;
  for (size_t i = 0; i < kSeedBytes; ++i)
    seed[i] = static_cast<uint8_t>(i * 37 + batch);
  return seed;
}

}  // namespace

void expect(bool good, const char* what) {
  if (good) return;
  ++failures;
  std::fprintf(stderr, "FAILED: %s\n", what);
}

const ModuleTable& table() {
  return *polykem_cuda_module();
}

const DeviceScheme& toy() {
  return *table().scheme(scheme_name);
}

uint8_t latest_coin() {
  const auto seed = seed_of(batches);
  uint32_t words[kSeedBytes / 4], block[kChaChaWords];
  std::memcpy(words, seed.data(), kSeedBytes);
  make_coin_block(block, words, CoinDomain::kPart, 0, 0);
  return static_cast<uint8_t>(block[0] + block[4]);  // bytes 0 and 16: see the first step
}

Outcome run(Op op, const Records& r, StepTimes* times, const size_t* key_index, const uint8_t* keys) {
  const size_t batch = ++batches;
  BatchView b{};
  b.count = r.count;
  const auto seed = seed_of(batch);
  if (op == Op::kKeygen) b.pk_out = r.pk, b.sk_out = r.sk;
  if (op == Op::kEncaps) b.pk = r.pk, b.ct_out = r.ct, b.ss_out = r.ss;
  if (op == Op::kDecaps) b.sk = keys == nullptr ? r.sk : keys, b.ct = r.ct, b.ss_out = r.ss2, b.key_index = key_index;
  ErrorText why{};
  return table().run(toy().operation(op), b, seed.data(), times, &why);
}

bool exchange(const Records& r, StepTimes* times) {
  for (const Op op : {Op::kKeygen, Op::kEncaps, Op::kDecaps}) {
    if (run(op, r, times) != Outcome::kOk) return false;
  }
  return std::memcmp(r.ss, r.ss2, r.count * kSs) == 0;
}

int devices_in_use() {
  std::array<size_t, fake_runtime::kDevices> before{};
  for (int device = 0; device < fake_runtime::kDevices; ++device)
    before[static_cast<size_t>(device)] = fake_runtime::queued(device);
  if (!exchange(Records(200000, true))) return 0;
  int used = 0;
  for (int device = 0; device < fake_runtime::kDevices; ++device)
    used += fake_runtime::queued(device) > before[static_cast<size_t>(device)] ? 1 : 0;
  return used;
}

}  // namespace polykem::cuda::test

namespace polykem {

using namespace cuda::test;

std::span<const DeviceScheme* const> device_schemes() {
  static constexpr DeviceScheme kToy{
      .name = "toy",
      .operations = {kOperation<Op::kKeygen>, kOperation<Op::kEncaps>, kOperation<Op::kDecaps>},
      .expanded_secret_key = {
          .bytes = kExpandedBytes, .workspace_bytes = [](size_t) { return size_t{256}; }, .expand = expand_keys}};
  static constexpr DeviceScheme kLarge{.name = "large",
                                       .operations = {},
                                       .expanded_public_key = {},
                                       .expanded_secret_key = {},
                                       .shared_bytes = fake_runtime::kSharedBytes + 1};
  static const DeviceScheme filling = with_filling_step(kToy);
  static const DeviceScheme* const all[] = {&kToy, &kLarge, &filling, &kSigner, &kSignerLarge};
  return all;
}

const BuildInfo kBuild{"toy", "toy"};

}  // namespace polykem

namespace polykem::cuda {

cudaError_t find_machine_code() {
  int device = 0;
  (void)cudaGetDevice(&device);
  return loading[device];
}

cudaError_t gather(uint8_t* to, const uint8_t* from, const uint64_t* index, size_t record_bytes, size_t count,
                   cudaStream_t stream) {
  const auto work = [=] {
    for (size_t i = 0; i < count; ++i)
      std::memcpy(to + i * record_bytes, from + index[i] * record_bytes, record_bytes);
  };
  return launch_work(work, stream);
}

cudaError_t take_from_host(void* to, uint32_t* from, size_t bytes, cudaStream_t stream) {
  const auto work = [=] {
    std::memcpy(to, from, bytes);
    std::memset(from, 0, bytes + 4);
  };
  return launch_work(work, stream);
}

cudaError_t read_from_host(void* to, const void* from, size_t bytes, cudaStream_t stream) {
  return launch_work([=] { std::memcpy(to, from, bytes); }, stream);
}

}  // namespace polykem::cuda
