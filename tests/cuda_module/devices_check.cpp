// SPDX-License-Identifier: Apache-2.0
// Tests the module's devices and pipeline on the fake runtime: two devices, many threads, failures.
//   polykem_cuda_devices_check TEST [SCHEME]
// TEST: a name at the end of this file, of devices_failures.cpp or of devices_messages.cpp. SCHEME: toy (the default),
// filling.
#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "prim/cuda/choice.hpp"
#include "prim/cuda/multiprocessors.hpp"
#include "toy.hpp"

namespace polykem::cuda::test {
namespace {

void check_sizes(bool pinned) {
  for (const size_t count : {size_t{1}, size_t{64}, size_t{2048}, size_t{2049}, size_t{10000}, size_t{131072}}) {
    const Records r(count, pinned);
    expect(exchange(r), "exchange");
    StepTimes times;
    expect(exchange(r, &times) && times.entries[2].items == 3 * count, "exchange with the time of each step");
    bool all_different = true;
    for (size_t i = 1; i < count; ++i)
      all_different = all_different && std::memcmp(r.sk, r.sk + i * kSk, kSk) != 0;
    expect(all_different, "items of different parts get different numbers");
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

/// Returns true if no coins of the latest keygen were wiped before their use.
bool all_have_coins(const Records& r) {
  for (size_t i = 0; i < r.count; ++i) {
    if (std::all_of(r.sk + i * kSk, r.sk + (i + 1) * kSk, [](uint8_t byte) { return byte == 0; })) return false;
  }
  return true;
}

/// Runs many batches with streams that run ahead of each other. Results must not depend on the order.
void check_order() {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    fake_runtime::shuffle(seed);
    const Records r(3000 + 600 * seed, true);
    for (int round = 0; round < 3; ++round)
      expect(exchange(r) && all_have_coins(r), "exchange while streams run ahead");
  }
  fake_runtime::shuffle(0);
}

/// A wipe that could not be queued, or for whose end nobody can wait, does not affect later parts.
void check_wipes() {
  const Records r(140000, true);  // enough for the streams that parts share
  for (const char* name : {"cudaEventRecord", "cudaMemsetAsync"}) {
    for (const int seed : {1, 2}) {  // each call fails once, in two orders of the streams' work
      bool failed = true;
      for (int nth = seed; failed; nth += 2) {
        fake_runtime::shuffle(static_cast<unsigned>(seed));
        fake_runtime::fail_call(nth, name);
        const Outcome outcome = run(Op::kKeygen, r);
        failed = fake_runtime::failed() != nullptr;
        fake_runtime::fail_call(0);
        if (outcome == Outcome::kOk) expect(all_have_coins(r), "a batch that succeeded is right");
        for (int round = 0; round < 2; ++round)
          expect(exchange(r) && all_have_coins(r), "exchange after a wipe that failed");
      }
    }
  }
  fake_runtime::shuffle(0);
}

/// More threads than parts that may be in flight, each with a batch for both devices.
void check_threads() {
  std::vector<std::thread> threads;
  std::array<bool, 40> good{};
  for (size_t t = 0; t < good.size(); ++t) {
    threads.emplace_back([&good, t] {
      good[t] = true;
      for (int round = 0; round < 4; ++round)
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
  expect(table().copy(keys, r.sk, r.count * kSk, nullptr) == Outcome::kOk, "copy");
  std::array<uint8_t, kSk> back;
  expect(table().copy(back.data(), keys + 7 * kSk, kSk, nullptr) == Outcome::kOk, "copy to the host");
  expect(std::memcmp(back.data(), r.sk + 7 * kSk, kSk) == 0, "what was copied");
  std::vector<size_t> index(r.count);
  std::vector<uint8_t> wanted(r.count * kSs);
  for (size_t i = 0; i < r.count; ++i) {
    index[i] = i * 7 % r.count;
    std::array<uint8_t, kPk> pk;
    for (size_t j = 0; j < kPk; ++j)
      pk[j] = static_cast<uint8_t>(r.sk[index[i] * kSk + j] + 1);
    secret_of(&wanted[i * kSs], r.ct + i * kCt, pk.data());
  }
  expect(run(Op::kDecaps, r, nullptr, index.data(), reinterpret_cast<const uint8_t*>(keys)) == Outcome::kOk, "decaps");
  expect(std::memcmp(wanted.data(), r.ss2, wanted.size()) == 0, "secrets of the chosen keys");
  table().release(keys, r.count * kSk);
}

/// A device with a quarter of the multiprocessors gets a quarter of the items at a time, and a quarter of the number
/// that counts as few.
void check_small() {
  fake_runtime::have_multiprocessors(kMeasuredMultiprocessors / 4);
  expect(for_current_device(2640) == 660, "few items");
  const Records r(32768, true);
  tiles_run = 0;
  expect(exchange(r), "exchange");
  fake_runtime::run_all();
  expect(tiles_run == kTiles * r.count / (toy().operation(Op::kEncaps).part_items / 4), "parts of encaps");
}

/// The status of items is copied back, expanded keys are chosen by index, and tiled steps run once for each tile. A set
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
    auto* forms = table().allocate(count * kExpandedBytes, keys, nullptr);
    expect(table().copy(keys, r.sk, count * kSk, nullptr) == Outcome::kOk, "copy");
    expect(table().expand(toy().expanded_secret_key, forms, reinterpret_cast<uint8_t*>(keys), count, nullptr) ==
               Outcome::kOk,
           "expand");
    std::vector<size_t> index(count);
    std::vector<uint8_t> wanted(count * kSs);
    for (size_t i = 0; i < count; ++i) {
      index[i] = i * 7 % count;
      std::array<uint8_t, kPk> pk;
      for (size_t j = 0; j < kPk; ++j)
        pk[j] = static_cast<uint8_t>(r.sk[index[i] * kSk + j] + 1);
      r.ct[i * kCt + kCoins] = i % 1000 == 7 ? 0xee : 0;
      secret_of(&wanted[i * kSs], r.ct + i * kCt, pk.data());
    }
    std::vector<Status> status(count, Status::kOk);
    BatchView b{.count = count};
    b.sk = reinterpret_cast<uint8_t*>(keys), b.ct = r.ct, b.ss_out = r.ss2;
    b.key_index = index.data();
    b.expanded = {.data = forms, .bytes = kExpandedBytes, .shared = false, .index = index.data()};
    b.item_status = status.data();
    const std::array<uint8_t, kSeedBytes> seed{};
    marks_seen = 0;
    expect(table().run(toy().operation(Op::kDecaps), b, seed.data(), nullptr, nullptr) == Outcome::kOk, "decaps");
    expect(std::memcmp(wanted.data(), r.ss2, wanted.size()) == 0, "secrets of the chosen keys");
    expect(marks_seen == count, "the expanded form was used");
    bool good = true;
    for (size_t i = 0; i < count; ++i)
      good &= status[i] == (i % 1000 == 7 ? Status::kSecretKey : Status::kOk);
    expect(good, "each item has its own status");
    table().release(forms, count * kExpandedBytes);
    table().release(keys, count * kSk);
  }
}

/// A batch that stays on a device is complete when the call returns.
void check_resident() {
  Records r(20000, true);
  std::byte *sk = table().allocate(r.count * kSk, nullptr, nullptr),
            *pk = table().allocate(r.count * kPk, nullptr, nullptr);
  uint8_t *const host_sk = r.sk, *const host_pk = r.pk;
  r.sk = reinterpret_cast<uint8_t*>(sk), r.pk = reinterpret_cast<uint8_t*>(pk);
  expect(run(Op::kKeygen, r) == Outcome::kOk, "keygen on the device");
  bool good = true;
  for (size_t i = 0; i < r.count * kPk; ++i)
    good &= r.pk[i] == static_cast<uint8_t>(r.sk[i / kPk * kSk + i % kPk] + 1);
  expect(good, "keys on the device when the call has returned");
  table().release(sk, r.count * kSk);
  table().release(pk, r.count * kPk);
  r.sk = host_sk, r.pk = host_pk;
}

/// While the application captures streams in the global mode, the module can allocate, breaks no capture, and does not
/// change the caller's thread.
void check_capture() {
  fake_runtime::capture_globally(true);
  {
    const Records r(5000, false);
    expect(exchange(r), "exchange");
    std::byte* keys = table().allocate(r.count * kSk, nullptr, nullptr);
    auto* forms = table().allocate(r.count * kExpandedBytes, keys, nullptr);
    auto* sk = reinterpret_cast<uint8_t*>(keys);
    expect(table().copy(keys, r.sk, r.count * kSk, nullptr) == Outcome::kOk, "keys for the device");
    expect(table().expand(toy().expanded_secret_key, forms, sk, r.count, nullptr) == Outcome::kOk, "expand");
    expect(run(Op::kDecaps, r, nullptr, nullptr, sk) == Outcome::kOk, "decaps");
    expect(table().zero(keys, r.count * kSk, nullptr) == Outcome::kOk, "zero");
    table().release(forms, r.count * kExpandedBytes);
    table().release(keys, r.count * kSk);
  }
  expect(fake_runtime::broken_captures() == 0, "no capture is broken");
  void* memory = nullptr;
  expect(cudaMalloc(&memory, 1) == cudaErrorStreamCaptureUnsupported, "the caller's thread has its own mode again");
  fake_runtime::capture_globally(false);
  expect(devices_in_use() == 2, "no device is lost");
}

/// The status of items on the caller's stream, in device memory, is preset and written by the steps.
void check_queued_status(std::byte* workspace, cudaStream_t stream) {
  constexpr size_t kCount = 300;
  const DeviceOperation& decaps = toy().operation(Op::kDecaps);
  const auto array = [](size_t bytes) { return reinterpret_cast<uint8_t*>(table().allocate(bytes, nullptr, nullptr)); };
  uint8_t *const sk = array(kCount * kSk), *const ct = array(kCount * kCt), *const ss = array(kCount * kSs);
  uint8_t* const status = array(kCount * sizeof(Status) + 4);
  for (size_t i = 0; i < kCount; ++i)
    ct[i * kCt + kCoins] = i % 100 == 7 ? 0xee : 0;
  BatchView batch{.count = kCount};
  batch.sk = sk, batch.ct = ct, batch.ss_out = ss;
  batch.item_status = reinterpret_cast<Status*>(status);
  const std::array<uint8_t, kSeedBytes> seed{};
  ErrorText why{};
  const auto queue = [&] { return table().queue(decaps, batch, seed.data(), workspace, stream, &why); };
  expect(queue() == Outcome::kOk, "decaps with item_status");
  fake_runtime::run_all();
  for (size_t i = 0; i < kCount; ++i)
    expect(batch.item_status[i] == (i % 100 == 7 ? Status::kSecretKey : Status::kOk), "each item has its own status");
  batch.item_status = reinterpret_cast<Status*>(status + 1);
  expect(queue() == Outcome::kRefused, "an odd item_status");
  std::vector<Status> on_host(kCount, Status::kInternal);
  batch.item_status = on_host.data();
  expect(queue() == Outcome::kRefused, "item_status in host memory");
  fake_runtime::run_all();
  expect(on_host == std::vector<Status>(kCount, Status::kInternal), "which stays as it was");
  for (const auto& [memory, bytes] :
       {std::pair{sk, kSk}, std::pair{ct, kCt}, std::pair{ss, kSs}, std::pair{status, sizeof(Status)}})
    table().release(reinterpret_cast<std::byte*>(memory), kCount * bytes);
}

/// The workspace of a batch on the caller's stream is wiped, also when a step fails.
void check_queue() {
  constexpr size_t kCount = 300;
  const DeviceOperation& keygen = toy().operation(Op::kKeygen);
  const size_t bytes = table().queue_workspace_bytes(keygen, kCount);
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
    if (faulty) fake_runtime::fail_call(6);  // the second step, after three questions about arrays, the seed and a step
    const Outcome outcome = table().queue(keygen, batch, seed.data(), workspace, stream, &why);
    fake_runtime::fail_call(0);
    expect(outcome == (faulty ? Outcome::kFailed : Outcome::kOk), "the outcome of queue()");
    fake_runtime::run_all();
    expect(std::all_of(workspace, workspace + bytes, [](std::byte b) { return b == std::byte{0}; }),
           "the workspace is wiped");
  }
  const std::vector<uint8_t> seed_bytes(seed.begin(), seed.end());
  expect(!fake_runtime::pinned_memory_has(seed_bytes), "no copy of the seed is left");
  fake_runtime::fail_call(4);  // the copy of the seed
  expect(table().queue(keygen, batch, seed.data(), workspace, stream, &why) == Outcome::kFailed, "a seed not copied");
  expect(!fake_runtime::pinned_memory_has(seed_bytes), "nor if it could not be copied");
  for (int i = 0; i < 200; ++i) {  // far more than complete
    expect(table().queue(keygen, batch, seed.data(), workspace, stream, &why) == Outcome::kOk, "queued behind others");
    ++seed[31];
  }
  fake_runtime::run_all();
  expect(sk[15] == 200 - 1, "the last of many batches has its own seed");
  expect(!fake_runtime::pinned_memory_has(seed_bytes), "nor of the last one");
  fake_runtime::capture(stream);
  expect(table().queue(keygen, batch, seed.data(), workspace, stream, &why) == Outcome::kRefused,
         "a captured batch would repeat its random numbers");
  std::vector<uint8_t> coins(kCount * kCoins);
  auto* device_coins = table().allocate(coins.size(), nullptr, nullptr);
  batch.coins = reinterpret_cast<uint8_t*>(device_coins);
  expect(table().queue(keygen, batch, seed.data(), workspace, stream, &why) == Outcome::kOk, "one with coins does not");
  batch.coins = nullptr;
  fake_runtime::capture(nullptr);
  expect(table().queue(keygen, batch, seed.data(), workspace + 8, stream, &why) == Outcome::kRefused,
         "an odd workspace");
  (void)cudaSetDevice(1);
  expect(table().queue(keygen, batch, seed.data(), workspace, stream, &why) == Outcome::kRefused, "another device");
  (void)cudaSetDevice(0);
  table().release(device_coins, coins.size());
  check_queued_status(workspace, stream);
  batch.count = keygen.max_items + 1;
  expect(table().queue(keygen, batch, seed.data(), workspace, stream, &why) == Outcome::kRefused, "too many items");
  table().release(workspace, bytes);
  table().release(reinterpret_cast<std::byte*>(pk), kCount * kPk);
  table().release(reinterpret_cast<std::byte*>(sk), kCount * kSk);
}

/// Launches that repeat are recorded and replayed on the arrays' current contents; launches that cannot be recorded
/// still run.
void check_replay() {
  const Records first(1000, true), r(30000, true);
  expect(run(Op::kKeygen, first) == Outcome::kOk, "keygen before the recording");
  table().inject(Fault::kStep, 1);
  for (int round = 0; round < 3; ++round)
    expect(run(Op::kKeygen, first) == Outcome::kOk, "keygen that could not be recorded");
  expect(fake_runtime::replayed() == 0, "nothing is replayed yet");
  std::vector<uint8_t> earlier(r.count * kSk);
  for (int round = 0; round < 8; ++round) {
    expect(exchange(r), "exchange, again");
    expect(std::memcmp(earlier.data(), r.sk, earlier.size()) != 0, "each batch makes new coins");
    std::memcpy(earlier.data(), r.sk, earlier.size());
    fake_runtime::run_all();
    expect(!fake_runtime::device_memory_has({r.sk, r.sk + kSk}), "secret keys are wiped");
  }
  const Records pageable(r.count, false);
  for (int round = 0; round < 8; ++round) {
    expect(run(Op::kKeygen, pageable) == Outcome::kOk && pageable.sk[0] == latest_coin(),
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

constexpr Check kChecks[] = {
    {"pinned", [] { check_sizes(true); }},
    {"pageable", [] { check_sizes(false); }},
    {"order", check_order},
    {"wipes", check_wipes},
    {"small", check_small},
    {"threads", check_threads},
    {"keys", check_keys},
    {"status", check_status},
    {"resident", check_resident},
    {"capture", check_capture},
    {"queue", check_queue},
    {"replay", check_replay},
};

}  // namespace
}  // namespace polykem::cuda::test

int main(int argc, char** argv) {
  using namespace polykem::cuda::test;
  const std::string test = argc >= 2 ? argv[1] : "";
  if (argc >= 3) scheme_name = argv[2];
  const Check* chosen = nullptr;
  for (const std::span<const Check> checks : {std::span<const Check>(kChecks), failure_checks(), message_checks()})
    for (const Check& check : checks)
      if (check.name == test) chosen = &check;
  expect(chosen != nullptr, "unknown test");
  if (chosen != nullptr) chosen->run();
  return failures == 0 ? 0 : 1;
}
