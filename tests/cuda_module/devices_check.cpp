// SPDX-License-Identifier: Apache-2.0
// The module's devices and pipeline over the fake runtime: two devices, many threads, failures.
//   polykem_cuda_devices_check TEST [SCHEME]
// TEST: pinned pageable order threads keys resident memory failures replay status calls calls_large queue capture
// many_failures one_fails wipes. SCHEME: toy (the default), filling.
// The operations are a toy: sk = its draws twice, pk = the draws of sk plus 1, ct = r, pk's first byte, and ss what
// both sides can compute from r and pk.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "cuda_module/gather.hpp"
#include "cuda_module/module.hpp"
#include "fake_runtime.hpp"
#include "prim/launch/cuda/launch.hpp"
#include "schemes/device_schemes.hpp"

extern "C" const polykem::cuda::ModuleTable* polykem_cuda_module();

namespace {

using namespace polykem;
using namespace polykem::cuda;

constexpr size_t kDraws = 16, kPk = kDraws, kSk = 2 * kDraws, kCt = kDraws + 1, kSs = 32;
int failures = 0;
bool has_machine_code = true;

void expect(bool good, const char* what) {
  if (good) return;
  ++failures;
  std::fprintf(stderr, "FAILED: %s\n", what);
}

void secret_of(uint8_t* ss, const uint8_t* r, const uint8_t* pk) {
  for (size_t i = 0; i < kSs; ++i)
    ss[i] = static_cast<uint8_t>(r[i % kDraws] * 3 + pk[i % kPk] * 7 + i);
}

/// Keys of a set in their expanded form: the public key, and a mark by which a test sees that it was used.
constexpr size_t kFormBytes = 64;
constexpr uint8_t kMark = 0x5a;
std::atomic<size_t> marks_seen{0}, tiles_run{0};

int expand_keys(std::byte* out, const uint8_t* keys, size_t count, std::byte*, void*) {
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = 0; j < kPk; ++j)
      out[i * kFormBytes + j] = static_cast<std::byte>(keys[i * kSk + j] + 1);
    out[i * kFormBytes + kPk] = static_cast<std::byte>(kMark);
  }
  return 0;
}

/// An item whose ciphertext ends with 0xee is malformed.
void check_ciphertexts(const DeviceBatch& b) {
  for (size_t i = 0; i < b.count && b.item_status != nullptr; ++i)
    if (b.ct[i * kCt + kDraws] == 0xee) b.item_status[i] = Status::secret_key;
}

/// The draws of an item lie in the workspace, where the second step finds them.
void draw(const DeviceBatch& b, std::byte* workspace) {
  for (size_t i = 0; i < b.count; ++i) {
    for (size_t j = 0; j < kDraws; ++j) {
      const auto* seed = reinterpret_cast<const uint8_t*>(b.seed);
      const auto own = static_cast<uint8_t>(seed[j] + seed[j + 16] + (i >> (8 * (j % 4))) * 251);
      workspace[i * kDraws + j] = static_cast<std::byte>(b.draws != nullptr ? b.draws[i * kDraws + j] : own);
    }
  }
}

void compute_sk(const DeviceBatch& b, const std::byte* workspace) {
  const auto* r = reinterpret_cast<const uint8_t*>(workspace);
  for (size_t i = 0; i < b.count; ++i, r += kDraws) {
    std::memcpy(b.sk_out + i * kSk, r, kDraws);
    std::memcpy(b.sk_out + i * kSk + kDraws, r, kDraws);
  }
}

void compute(Op op, const DeviceBatch& b, const std::byte* workspace) {
  const auto* r = reinterpret_cast<const uint8_t*>(workspace);
  for (size_t i = 0; i < b.count; ++i, r += kDraws) {
    const size_t key = b.shared_key ? 0 : i;
    if (op == Op::keygen) {
      for (size_t j = 0; j < kDraws; ++j)
        b.pk_out[i * kPk + j] = static_cast<uint8_t>(r[j] + 1);
    } else if (op == Op::encaps) {
      std::memcpy(b.ct_out + i * kCt, r, kDraws);
      b.ct_out[i * kCt + kDraws] = b.pk[key * kPk];
      secret_of(b.ss_out + i * kSs, r, b.pk + key * kPk);
    } else {
      std::array<uint8_t, kPk> pk;
      for (size_t j = 0; j < kPk; ++j)
        pk[j] = b.expanded.data != nullptr ? static_cast<uint8_t>(b.expanded.key(i)[j])
                                           : static_cast<uint8_t>(b.sk[key * kSk + j] + 1);
      if (b.expanded.data != nullptr && b.expanded.key(i)[kPk] == static_cast<std::byte>(kMark)) ++marks_seen;
      secret_of(b.ss_out + i * kSs, b.ct + i * kCt, pk.data());
    }
  }
}

using Work = std::function<void()>;

void run_work(const Work* work) {
  (*work)();
}

/// Launches work as a kernel of the fake runtime. It is kept, because it may be recorded and replayed.
cudaError_t launch_work(Work work, cudaStream_t stream) {
  static std::mutex mutex;
  static std::deque<Work> kept;
  const Work* last = nullptr;
  {
    const std::lock_guard lock(mutex);
    last = &kept.emplace_back(std::move(work));
  }
  return launch(run_work, 1, 1, 0, stream, last);
}

constexpr size_t kTiles = 3;

template <Op kOp>
int run_step(size_t step, size_t tile, const DeviceBatch& batch, std::byte* workspace, void* stream) {
  const auto work = [=] {
    if (step == 0 && kOp != Op::decaps) draw(batch, workspace);
    if (step == 0 && kOp == Op::decaps) check_ciphertexts(batch);
    if (step == 1 && kOp == Op::keygen) compute_sk(batch, workspace);
    if (step == 1 && kOp == Op::encaps && tile < kTiles) ++tiles_run;
    if (step == 2) compute(kOp, batch, workspace);
  };
  return launch_work(work, static_cast<cudaStream_t>(stream));
}

size_t workspace_bytes(size_t items) {
  return (items * kDraws + 255) / 256 * 256;
}

constexpr DeviceStep kDraw{{"draw", 0, 1}, field::kDraws, 0}, kComputeSk{{"compute_sk", 1, 1}, 0, field::kSkOut};
constexpr DeviceStep kSkip{{"compute_sk", 1, 1}, 0, 0}, kTiled{{"tiled", 1, 1, true}, 0, 0};
constexpr std::array<DeviceStep, 3> kKeygenSteps = {kDraw, kComputeSk, {{"compute", 2, 1}, 0, field::kPkOut}};
constexpr std::array<DeviceStep, 3> kEncapsSteps = {
    kDraw, kTiled, {{"compute", 2, 1}, field::kPk, field::kCtOut | field::kSsOut}};
constexpr std::array<DeviceStep, 3> kDecapsSteps = {DeviceStep{{"check", 0, 1}, field::kCt, field::kItemStatus},
                                                    kSkip,
                                                    {{"compute", 2, 1}, field::kSk | field::kCt, field::kSsOut}};

template <Op kOp>
constexpr DeviceOperation kOperation = {.scheme = "toy",
                                        .op = kOp,
                                        .record_bytes = {kPk, kSk, kCt, kSs, kOp == Op::decaps ? 0 : kDraws},
                                        .steps = kOp == Op::keygen   ? std::span<const DeviceStep>(kKeygenSteps)
                                                 : kOp == Op::encaps ? std::span<const DeviceStep>(kEncapsSteps)
                                                                     : std::span<const DeviceStep>(kDecapsSteps),
                                        .part_items = 8192,
                                        .staged_bytes = size_t{4} << 20,
                                        .least_items = 64,
                                        .most_items = 1 << 30,
                                        .workspace_bytes = workspace_bytes,
                                        .tiles = [](const DeviceBatch&) { return kTiles; },
                                        .run_step = run_step<kOp>};

const ModuleTable& table() {
  return *polykem_cuda_module();
}

/// The scheme that is tested: "toy", or "filling", the same with a step that fills the device.
const char* scheme_name = "toy";
const DeviceScheme& toy() {
  return *table().scheme(scheme_name);
}

/// Memory of either kind for the records of one exchange.
struct Records {
  size_t count;
  bool pinned;
  uint8_t *pk = take(kPk), *sk = take(kSk), *ct = take(kCt), *ss = take(kSs), *ss2 = take(kSs);

  Records(size_t n, bool pin) : count(n), pinned(pin) {}
  Records(const Records&) = delete;
  Records& operator=(const Records&) = delete;
  ~Records() {
    for (uint8_t* memory : {pk, sk, ct, ss, ss2})
      pinned ? static_cast<void>(cudaFreeHost(memory)) : std::free(memory);
  }
  uint8_t* take(size_t record) const {
    void* memory = nullptr;
    if (pinned) {
      (void)cudaHostAlloc(&memory, count * record, 0);
    } else {
      memory = std::malloc(count * record);
    }
    return static_cast<uint8_t*>(memory);
  }
};

std::atomic<size_t> batches{0};

/// The first byte of the first secret key that the latest batch drew.
uint8_t latest_draw() {
  return static_cast<uint8_t>(16 * 37 + 2 * batches);
}

Outcome run(Op op, const Records& r, StepTimes* times = nullptr, const size_t* key_index = nullptr,
            const uint8_t* keys = nullptr) {
  const size_t batch = ++batches;
  BatchView b{};
  b.count = r.count;
  std::array<uint8_t, kSeedBytes> seed;
  for (size_t i = 0; i < kSeedBytes; ++i)
    seed[i] = static_cast<uint8_t>(i * 37 + batch);
  if (op == Op::keygen) b.pk_out = r.pk, b.sk_out = r.sk;
  if (op == Op::encaps) b.pk = r.pk, b.ct_out = r.ct, b.ss_out = r.ss;
  if (op == Op::decaps) b.sk = keys == nullptr ? r.sk : keys, b.ct = r.ct, b.ss_out = r.ss2, b.key_index = key_index;
  ErrorText why{};
  return table().run(toy().operation(op), b, seed.data(), times, &why);
}

bool exchange(const Records& r, StepTimes* times = nullptr) {
  for (const Op op : {Op::keygen, Op::encaps, Op::decaps}) {
    if (run(op, r, times) != Outcome::ok) return false;
  }
  return std::memcmp(r.ss, r.ss2, r.count * kSs) == 0;
}

void check_sizes(bool pinned) {
  for (const size_t count : {size_t{1}, size_t{64}, size_t{2048}, size_t{2049}, size_t{10000}, size_t{131072}}) {
    const Records r(count, pinned);
    expect(exchange(r), "exchange");
    StepTimes times;
    expect(exchange(r, &times) && times.entries[2].items == 3 * count, "exchange with the time of each step");
    bool all_different = true;
    for (size_t i = 1; i < count; ++i)
      all_different = all_different && std::memcmp(r.sk, r.sk + i * kSk, kSk) != 0;
    expect(all_different, "items of different parts draw different numbers");
    fake_runtime::run_all();
    for (const size_t item : {size_t{0}, count / 2, count - 1}) {
      const uint8_t *sk = r.sk + item * kSk, *ss = r.ss + item * kSs;
      expect(!fake_runtime::device_memory_has({sk, sk + kSk}), "secret keys are wiped");
      expect(!fake_runtime::device_memory_has({ss, ss + kSs}), "secrets are wiped");
    }
  }
  int current = -1;
  expect(cudaGetDevice(&current) == cudaSuccess && current == 0, "the thread keeps its current device");
  for (int device = 0; device < fake_runtime::kDevices; ++device)
    expect(fake_runtime::queued(device) > 100, "each device has had work");
}

/// True if no draws of the latest keygen were wiped before they were used.
bool all_drawn(const Records& r) {
  for (size_t i = 0; i < r.count; ++i) {
    if (std::all_of(r.sk + i * kSk, r.sk + (i + 1) * kSk, [](uint8_t byte) { return byte == 0; })) return false;
  }
  return true;
}

/// Streams that run ahead of each other, over many batches: the results must not depend on the order.
void check_order() {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    fake_runtime::shuffle(seed);
    const Records r(3000 + 600 * seed, true);
    for (int round = 0; round < 3; ++round)
      expect(exchange(r) && all_drawn(r), "exchange while streams run ahead");
  }
  fake_runtime::shuffle(0);
}

/// A wipe of a slot that could not be queued, or whose end nobody can wait for, does not reach the parts that follow.
void check_wipes() {
  const Records r(140000, true);  // enough for the streams that parts share
  for (const char* name : {"cudaEventRecord", "cudaMemsetAsync"}) {
    for (unsigned seed = 1; seed <= 2; ++seed) {
      bool failed = true;
      for (int nth = 1; failed; ++nth) {
        fake_runtime::shuffle(seed);
        fake_runtime::fail_call(nth, name);
        const Outcome outcome = run(Op::keygen, r);
        failed = fake_runtime::failed() != nullptr;
        fake_runtime::fail_call(0);
        if (outcome == Outcome::ok) expect(all_drawn(r), "a batch that succeeded is right");
        for (int round = 0; round < 2; ++round)
          expect(exchange(r) && all_drawn(r), "exchange after a wipe that failed");
      }
    }
  }
  fake_runtime::shuffle(0);
}

/// More threads than slots, each with a batch for both devices.
void check_threads() {
  std::vector<std::thread> threads;
  std::array<bool, 40> good{};
  for (size_t t = 0; t < good.size(); ++t) {
    threads.emplace_back([&good, t] {
      good[t] = true;
      for (int round = 0; round < 10; ++round)
        good[t] = exchange(Records(8192 + 1000 * (t % 5), t % 2 == 0)) && good[t];
    });
  }
  for (auto& thread : threads)
    thread.join();
  for (const bool g : good)
    expect(g, "exchange beside others");
}

/// Keys on a device, chosen by index.
void check_keys() {
  const Records r(5000, true);
  expect(exchange(r), "exchange");
  std::byte* keys = table().allocate(r.count * kSk, nullptr, nullptr);
  expect(table().copy(keys, r.sk, r.count * kSk, nullptr) == Outcome::ok, "copy");
  std::vector<size_t> index(r.count);
  std::vector<uint8_t> wanted(r.count * kSs);
  for (size_t i = 0; i < r.count; ++i) {
    index[i] = i * 7 % r.count;
    std::array<uint8_t, kPk> pk;
    for (size_t j = 0; j < kPk; ++j)
      pk[j] = static_cast<uint8_t>(r.sk[index[i] * kSk + j] + 1);
    secret_of(&wanted[i * kSs], r.ct + i * kCt, pk.data());
  }
  expect(run(Op::decaps, r, nullptr, index.data(), reinterpret_cast<const uint8_t*>(keys)) == Outcome::ok, "decaps");
  expect(std::memcmp(wanted.data(), r.ss2, wanted.size()) == 0, "secrets of the chosen keys");
  table().release(keys, r.count * kSk);
}

/// Items' status comes back, keys in their expanded form are chosen by index, tiled steps run once for each tile. A set
/// whose kernels do not fit the devices is not offered.
void check_status() {
  expect(table().scheme("large") == nullptr, "a set that needs more shared memory than there is");
  for (const auto& [count, pinned] : {std::pair{size_t{300}, true}, {size_t{200001}, true}, {size_t{9000}, false}}) {
    const Records r(count, pinned);
    tiles_run = 0;
    expect(exchange(r), "exchange");
    fake_runtime::run_all();
    expect(tiles_run > 0 && tiles_run % kTiles == 0, "tiled steps run in rounds");
    auto* keys = table().allocate(count * kSk, nullptr, nullptr);
    auto* forms = table().allocate(count * kFormBytes, keys, nullptr);
    expect(table().copy(keys, r.sk, count * kSk, nullptr) == Outcome::ok, "copy");
    expect(table().expand(toy().secret_form, forms, reinterpret_cast<uint8_t*>(keys), count, nullptr) == Outcome::ok,
           "expand");
    std::vector<size_t> index(count);
    std::vector<uint8_t> wanted(count * kSs);
    for (size_t i = 0; i < count; ++i) {
      index[i] = i * 7 % count;
      std::array<uint8_t, kPk> pk;
      for (size_t j = 0; j < kPk; ++j)
        pk[j] = static_cast<uint8_t>(r.sk[index[i] * kSk + j] + 1);
      r.ct[i * kCt + kDraws] = i % 1000 == 7 ? 0xee : 0;
      secret_of(&wanted[i * kSs], r.ct + i * kCt, pk.data());
    }
    std::vector<Status> status(count, Status::ok);
    BatchView b{.count = count};
    b.sk = reinterpret_cast<uint8_t*>(keys), b.ct = r.ct, b.ss_out = r.ss2;
    b.key_index = index.data();
    b.expanded = {.data = forms, .bytes = kFormBytes, .shared = false, .index = index.data()};
    b.item_status = status.data();
    const std::array<uint8_t, kSeedBytes> seed{};
    marks_seen = 0;
    expect(table().run(toy().operation(Op::decaps), b, seed.data(), nullptr, nullptr) == Outcome::ok, "decaps");
    expect(std::memcmp(wanted.data(), r.ss2, wanted.size()) == 0, "secrets of the chosen keys");
    expect(marks_seen == count, "the expanded form was used");
    bool good = true;
    for (size_t i = 0; i < count; ++i)
      good &= status[i] == (i % 1000 == 7 ? Status::secret_key : Status::ok);
    expect(good, "each item has its own status");
    table().release(forms, count * kFormBytes);
    table().release(keys, count * kSk);
  }
}

/// A batch that stays on a device is there when the call returns.
void check_resident() {
  Records r(20000, true);
  std::byte *sk = table().allocate(r.count * kSk, nullptr, nullptr),
            *pk = table().allocate(r.count * kPk, nullptr, nullptr);
  uint8_t *const host_sk = r.sk, *const host_pk = r.pk;
  r.sk = reinterpret_cast<uint8_t*>(sk), r.pk = reinterpret_cast<uint8_t*>(pk);
  expect(run(Op::keygen, r) == Outcome::ok, "keygen on the device");
  bool good = true;
  for (size_t i = 0; i < r.count * kPk; ++i)
    good &= r.pk[i] == static_cast<uint8_t>(r.sk[i / kPk * kSk + i % kPk] + 1);
  expect(good, "keys on the device when the call has returned");
  table().release(sk, r.count * kSk);
  table().release(pk, r.count * kPk);
  r.sk = host_sk, r.pk = host_pk;
}

/// With little memory, or when allocations fail, smaller parts succeed.
void check_memory() {
  const Records r(20000, true);
  table().set_budget(size_t{1} << 21);
  expect(exchange(r), "exchange with a small budget");
  table().set_budget(0);
  for (int after = 0; after < 6; ++after) {
    table().inject(Fault::allocation, after);
    expect(exchange(r), "exchange with a failed allocation");
  }
}

/// The devices that a batch for all devices is computed on.
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

/// A batch that fails is reported; the devices stay in use as long as they answer. A device that does not is never used
/// again, the other one continues. When both are lost, the module says so.
void check_failures() {
  const Records r(200000, true);
  expect(exchange(r), "exchange");
  for (const Fault fault : {Fault::step, Fault::synchronize}) {
    table().inject(fault, 0);
    expect(run(Op::keygen, r) == Outcome::failed, "a failure is reported");
    fake_runtime::run_all();
    expect(!fake_runtime::device_memory_has({r.sk, r.sk + kSk}), "secrets are wiped after a failure");
    expect(devices_in_use() == 2, "a device that answers stays in use");
  }
  for (const int lost : {1, 0}) {
    fake_runtime::break_device(lost, true);
    expect(run(Op::keygen, r) == Outcome::failed, "a device that does not answer is reported");
    fake_runtime::break_device(lost, false);
    expect(devices_in_use() == lost, "it is not used again");
  }
}

/// A device that answers, but on which nothing succeeds, is given up in the end; a success in between counts.
void check_many_failures() {
  const Records r(500, true);
  const auto fail_often = [&r](int times) {
    for (int i = 0; i < times; ++i) {
      table().inject(Fault::synchronize, 0);
      expect(run(Op::keygen, r) == Outcome::failed, "a failure is reported");
    }
  };
  for (int round = 0; round < 3; ++round) {
    fail_often(12);
    expect(exchange(r), "exchange");
  }
  fail_often(40);
  table().inject(Fault::none, 0);
  expect(!exchange(r), "both devices are given up");
}

/// Batches that succeed on one device do not keep another one in use.
void check_one_fails() {
  const Records small(500, true);
  (void)cudaSetDevice(1);
  Records there(500, true);
  void *pk = nullptr, *sk = nullptr;
  expect(cudaMalloc(&pk, there.count * kPk) == cudaSuccess && cudaMalloc(&sk, there.count * kSk) == cudaSuccess,
         "memory of the second device");
  (void)cudaSetDevice(0);
  uint8_t *const host_pk = there.pk, *const host_sk = there.sk;
  there.pk = static_cast<uint8_t*>(pk), there.sk = static_cast<uint8_t*>(sk);
  for (int i = 0; i < 20; ++i) {
    table().inject(Fault::synchronize, 0);
    expect(run(Op::keygen, there) == Outcome::failed, "the second device fails");
    table().inject(Fault::none, 0);
    expect(exchange(small), "the first one does not");
  }
  there.pk = host_pk, there.sk = host_sk;
  expect(devices_in_use() == 1, "the second device is given up");
}

/// While the application captures streams in the global mode, the module allocates what it needs, breaks no capture,
/// and leaves the caller's thread as it was.
void check_capture() {
  fake_runtime::capture_globally(true);
  {
    const Records r(5000, false);
    expect(exchange(r), "exchange");
    std::byte* keys = table().allocate(r.count * kSk, nullptr, nullptr);
    auto* forms = table().allocate(r.count * kFormBytes, keys, nullptr);
    auto* sk = reinterpret_cast<uint8_t*>(keys);
    expect(table().copy(keys, r.sk, r.count * kSk, nullptr) == Outcome::ok, "keys for the device");
    expect(table().expand(toy().secret_form, forms, sk, r.count, nullptr) == Outcome::ok, "expand");
    expect(run(Op::decaps, r, nullptr, nullptr, sk) == Outcome::ok, "decaps");
    expect(table().zero(keys, r.count * kSk, nullptr) == Outcome::ok, "zero");
    table().release(forms, r.count * kFormBytes);
    table().release(keys, r.count * kSk);
  }
  expect(fake_runtime::broken_captures() == 0, "no capture is broken");
  void* memory = nullptr;
  expect(cudaMalloc(&memory, 1) == cudaErrorStreamCaptureUnsupported, "the caller's thread has its own mode again");
  fake_runtime::capture_globally(false);
  expect(devices_in_use() == 2, "no device is lost");
}

/// Runs one batch of each operation while the nth call of the runtime fails; false if there were fewer calls.
bool runs_with_fault(int nth, size_t count, bool pinned) {
  const Records r(count, pinned);
  fake_runtime::fail_call(nth);
  const bool has_keys = run(Op::keygen, r) == Outcome::ok;
  const bool good = has_keys && run(Op::encaps, r) == Outcome::ok && run(Op::decaps, r) == Outcome::ok;
  fake_runtime::fail_call(0);
  const bool happened = fake_runtime::failed() != nullptr;
  if (good) expect(std::memcmp(r.ss, r.ss2, r.count * kSs) == 0, "a batch that succeeded is right");
  fake_runtime::run_all();
  // A device whose wipe fails cannot be wiped.
  const bool wipes = !happened || std::string(fake_runtime::failed()).rfind("cudaMemset", 0) != 0;
  if (wipes && has_keys) expect(!fake_runtime::device_memory_has({r.sk, r.sk + kSk}), "secret keys are wiped");
  expect(exchange(r) || happened, "the other device goes on");
  return happened;
}

/// Every call of the runtime fails once, each in a process of its own, until none does; of the many calls for a large
/// batch every fifth. 200,000 items take the streams that parts share.
void check_calls(size_t count, int stride) {
  for (const bool pinned : {true, false}) {
    int nth = 1;
    for (bool happened = true; happened; nth += stride) {
      const pid_t child = fork();
      if (child == 0) {
        alarm(60);
        happened = runs_with_fault(nth, count, pinned);
        _exit(failures > 0 ? 1 : happened ? 0 : 2);
      }
      int status = 0;
      waitpid(child, &status, 0);
      happened = WIFEXITED(status) && WEXITSTATUS(status) != 2;
      const bool good = WIFEXITED(status) && WEXITSTATUS(status) != 1;
      expect(good, "a failed call is a reported failure");
      if (!good) std::fprintf(stderr, "  call %d, %zu items\n", nth, count);
      if (!good) return;
    }
    expect(nth > 20, "there are calls that can fail");
  }
}

/// A module that was compiled for other GPUs says so, and for which it should be.
void check_no_code() {
  has_machine_code = false;
  ErrorText why{};
  expect(table().open(&why) == Outcome::failed, "a module without code for the GPU opens");
  expect(std::strstr(why.text, "make cuda ARCHS=90") != nullptr, why.text);
}

/// Items' status on the caller's stream, in device memory: preset, and written by the steps.
void check_queued_status(std::byte* workspace, cudaStream_t stream) {
  constexpr size_t kCount = 300;
  const DeviceOperation& decaps = toy().operation(Op::decaps);
  const auto array = [](size_t bytes) { return reinterpret_cast<uint8_t*>(table().allocate(bytes, nullptr, nullptr)); };
  uint8_t *const sk = array(kCount * kSk), *const ct = array(kCount * kCt), *const ss = array(kCount * kSs);
  uint8_t* const status = array(kCount * sizeof(Status) + 4);
  for (size_t i = 0; i < kCount; ++i)
    ct[i * kCt + kDraws] = i % 100 == 7 ? 0xee : 0;
  BatchView batch{.count = kCount};
  batch.sk = sk, batch.ct = ct, batch.ss_out = ss;
  batch.item_status = reinterpret_cast<Status*>(status);
  const std::array<uint8_t, kSeedBytes> seed{};
  ErrorText why{};
  const auto queue = [&] { return table().queue(decaps, batch, seed.data(), workspace, stream, &why); };
  expect(queue() == Outcome::ok, "decaps with item_status");
  fake_runtime::run_all();
  for (size_t i = 0; i < kCount; ++i)
    expect(batch.item_status[i] == (i % 100 == 7 ? Status::secret_key : Status::ok), "each item has its own status");
  batch.item_status = reinterpret_cast<Status*>(status + 1);
  expect(queue() == Outcome::refused, "an odd item_status");
  std::vector<Status> on_host(kCount, Status::internal);
  batch.item_status = on_host.data();
  expect(queue() == Outcome::refused, "item_status in host memory");
  fake_runtime::run_all();
  expect(on_host == std::vector<Status>(kCount, Status::internal), "which stays as it was");
  for (const auto& [memory, bytes] :
       {std::pair{sk, kSk}, std::pair{ct, kCt}, std::pair{ss, kSs}, std::pair{status, sizeof(Status)}})
    table().release(reinterpret_cast<std::byte*>(memory), kCount * bytes);
}

/// A batch on the caller's stream: its workspace is wiped, also when a step fails.
void check_queue() {
  constexpr size_t kCount = 300;
  const DeviceOperation& keygen = toy().operation(Op::keygen);
  const size_t bytes = table().queue_bytes(keygen, kCount);
  std::byte* workspace = table().allocate(bytes, nullptr, nullptr);
  auto* pk = reinterpret_cast<uint8_t*>(table().allocate(kCount * kPk, nullptr, nullptr));
  auto* sk = reinterpret_cast<uint8_t*>(table().allocate(kCount * kSk, nullptr, nullptr));
  BatchView batch{.count = kCount};
  batch.pk_out = pk, batch.sk_out = sk;
  std::array<uint8_t, kSeedBytes> seed{1, 2, 3};
  cudaStream_t stream = nullptr;
  expect(cudaStreamCreateWithFlags(&stream, 0) == cudaSuccess, "a stream");
  ErrorText why{};
  for (const bool faulty : {false, true}) {
    if (faulty)
      fake_runtime::fail_call(6);  // the second step: three questions where arrays lie, the seed and a step come before
    const Outcome outcome = table().queue(keygen, batch, seed.data(), workspace, stream, &why);
    fake_runtime::fail_call(0);
    expect(outcome == (faulty ? Outcome::failed : Outcome::ok), "the outcome of queue()");
    fake_runtime::run_all();
    expect(std::all_of(workspace, workspace + bytes, [](std::byte b) { return b == std::byte{0}; }),
           "the workspace is wiped");
  }
  const std::vector<uint8_t> seed_bytes(seed.begin(), seed.end());
  expect(!fake_runtime::pinned_memory_has(seed_bytes), "no copy of the seed is left");
  fake_runtime::fail_call(4);  // the copy of the seed
  expect(table().queue(keygen, batch, seed.data(), workspace, stream, &why) == Outcome::failed, "a seed not copied");
  expect(!fake_runtime::pinned_memory_has(seed_bytes), "nor if it could not be copied");
  for (int i = 0; i < 200; ++i) {  // far more than are done
    expect(table().queue(keygen, batch, seed.data(), workspace, stream, &why) == Outcome::ok, "queued behind others");
    ++seed[31];
  }
  fake_runtime::run_all();
  expect(sk[15] == 200 - 1, "the last of many batches has its own seed");
  expect(!fake_runtime::pinned_memory_has(seed_bytes), "nor of the last one");
  fake_runtime::capture(stream);
  expect(table().queue(keygen, batch, seed.data(), workspace, stream, &why) == Outcome::refused,
         "a captured batch would repeat its random numbers");
  std::vector<uint8_t> draws(kCount * kDraws);
  auto* device_draws = table().allocate(draws.size(), nullptr, nullptr);
  batch.draws = reinterpret_cast<uint8_t*>(device_draws);
  expect(table().queue(keygen, batch, seed.data(), workspace, stream, &why) == Outcome::ok, "one with draws does not");
  batch.draws = nullptr;
  fake_runtime::capture(nullptr);
  expect(table().queue(keygen, batch, seed.data(), workspace + 8, stream, &why) == Outcome::refused,
         "an odd workspace");
  (void)cudaSetDevice(1);
  expect(table().queue(keygen, batch, seed.data(), workspace, stream, &why) == Outcome::refused, "another device");
  (void)cudaSetDevice(0);
  table().release(device_draws, draws.size());
  check_queued_status(workspace, stream);
  batch.count = keygen.most_items + 1;
  expect(table().queue(keygen, batch, seed.data(), workspace, stream, &why) == Outcome::refused, "too many items");
  table().release(workspace, bytes);
  table().release(reinterpret_cast<std::byte*>(pk), kCount * kPk);
  table().release(reinterpret_cast<std::byte*>(sk), kCount * kSk);
}

/// Launches that repeat are recorded and replayed on the arrays' current contents; launches that cannot be recorded
/// still run.
void check_replay() {
  const Records first(1000, true), r(30000, true);
  expect(run(Op::keygen, first) == Outcome::ok, "keygen before the recording");
  table().inject(Fault::step, 1);
  for (int round = 0; round < 3; ++round)
    expect(run(Op::keygen, first) == Outcome::ok, "keygen that could not be recorded");
  expect(fake_runtime::replayed() == 0, "nothing is replayed yet");
  std::vector<uint8_t> earlier(r.count * kSk);
  for (int round = 0; round < 8; ++round) {
    expect(exchange(r), "exchange, again");
    expect(std::memcmp(earlier.data(), r.sk, earlier.size()) != 0, "each batch draws anew");
    std::memcpy(earlier.data(), r.sk, earlier.size());
    fake_runtime::run_all();
    expect(!fake_runtime::device_memory_has({r.sk, r.sk + kSk}), "secret keys are wiped");
  }
  const Records pageable(r.count, false);
  for (int round = 0; round < 8; ++round) {
    expect(run(Op::keygen, pageable) == Outcome::ok && pageable.sk[0] == latest_draw(),
           "the seed is read where it lies now");
    expect(exchange(pageable), "exchange from elsewhere");
  }
  const size_t replayed = fake_runtime::replayed();
  expect(replayed > 0, "graphs are replayed");
  for (const size_t count : {size_t{20000}, size_t{10000}, size_t{1000}}) {
    for (int round = 0; round < 5; ++round)
      expect(exchange(Records(count, round % 2 == 0)), "exchange of other sizes");
  }
  expect(exchange(r) && fake_runtime::replayed() > replayed, "graphs that made room come again");
}

/// The same scheme, but that the last step of each operation fills the device.
DeviceScheme with_filling_step(DeviceScheme scheme) {
  static std::array<std::array<DeviceStep, 3>, kOps> steps;
  scheme.name = "filling";
  for (size_t i = 0; i < kOps; ++i) {
    std::copy_n(scheme.operations[i].steps.begin(), steps[i].size(), steps[i].begin());
    steps[i].back().fills_device = true;
    scheme.operations[i].steps = steps[i];
  }
  return scheme;
}

}  // namespace

namespace polykem {

std::span<const DeviceScheme* const> device_schemes() {
  static constexpr DeviceScheme kToy{
      .name = "toy",
      .operations = {kOperation<Op::keygen>, kOperation<Op::encaps>, kOperation<Op::decaps>},
      .secret_form = {
          .bytes = kFormBytes, .workspace_bytes = [](size_t) { return size_t{256}; }, .expand = expand_keys}};
  static constexpr DeviceScheme kLarge{.name = "large",
                                       .operations = {},
                                       .public_form = {},
                                       .secret_form = {},
                                       .shared_bytes = fake_runtime::kSharedBytes + 1};
  static const DeviceScheme filling = with_filling_step(kToy);
  static const DeviceScheme* const all[] = {&kToy, &kLarge, &filling};
  return all;
}

}  // namespace polykem

namespace polykem::cuda {

cudaError_t find_machine_code() {
  return has_machine_code ? cudaSuccess : cudaErrorNoKernelImageForDevice;
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

int main(int argc, char** argv) {
  const std::string test = argc >= 2 ? argv[1] : "";
  if (argc >= 3) scheme_name = argv[2];
  if (test == "pinned" || test == "pageable")
    check_sizes(test == "pinned");
  else if (test == "order")
    check_order();
  else if (test == "threads")
    check_threads();
  else if (test == "keys")
    check_keys();
  else if (test == "resident")
    check_resident();
  else if (test == "memory")
    check_memory();
  else if (test == "failures")
    check_failures();
  else if (test == "many_failures")
    check_many_failures();
  else if (test == "one_fails")
    check_one_fails();
  else if (test == "wipes")
    check_wipes();
  else if (test == "capture")
    check_capture();
  else if (test == "replay")
    check_replay();
  else if (test == "status")
    check_status();
  else if (test == "calls")
    check_calls(500, 1);
  else if (test == "calls_large")
    check_calls(200000, 5);
  else if (test == "queue")
    check_queue();
  else if (test == "no_code")
    check_no_code();
  else
    expect(false, "unknown test");
  return failures == 0 ? 0 : 1;
}
