// SPDX-License-Identifier: Apache-2.0
// The module's table: batches of host records through a lane, batches of device records on the caller's stream.
#include "engine/cuda/module.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <new>

#include "engine/cuda/device.hpp"
#include "schemes/ntru/cuda/ntru_cuda.hpp"

namespace polykem::cuda {

namespace {

void say(ErrorText* why, const char* text) {
  if (why != nullptr) std::snprintf(why->text, sizeof why->text, "%s", text);
}

/// One array of records: where the host has it and where the device will.
struct Transfer {
  const uint8_t* host_in = nullptr;
  uint8_t* host_out = nullptr;
  size_t record_bytes = 0;
  size_t records = 0;
  bool pinned = false;
  uint8_t* device = nullptr;
  std::byte* staged = nullptr;

  size_t bytes() const { return record_bytes * records; }
};

bool is_pinned(const void* host) {
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, host) != cudaSuccess) {
    (void)cudaGetLastError();
    return false;
  }
  return attributes.type == cudaMemoryTypeHost;
}

constexpr size_t aligned(size_t bytes) {
  return (bytes + 255) / 256 * 256;
}

/// A part of a host batch on its way through a lane.
class Passage {
 public:
  Passage(const DeviceOperation& operation, const HostBatch& batch, size_t first, size_t count)
      : operation_(operation), batch_(batch), count_(count) {
    const RecordBytes& sizes = operation.record_bytes;
    const size_t key_first = batch.shared_key ? 0 : first, keys = batch.shared_key ? 1 : count;
    in(draws_, batch.draws, sizes.draws, first, count);
    in(pk_, batch.pk, sizes.pk, key_first, keys);
    in(sk_, batch.sk, sizes.sk, key_first, keys);
    in(ct_, batch.ct, sizes.ct, first, count);
    out(pk_out_, batch.pk_out, sizes.pk, first, count);
    out(sk_out_, batch.sk_out, sizes.sk, first, count);
    out(ct_out_, batch.ct_out, sizes.ct, first, count);
    out(ss_out_, batch.ss_out, sizes.ss, first, count);
  }

  /// Device memory it takes.
  size_t device_bytes() const {
    size_t total = aligned(kSeedBytes) + operation_.workspace_bytes(count_);
    for (const Transfer* t : all())
      total += aligned(t->bytes());
    return total;
  }

  void run(Lane& lane, StepTimes* times) {
    place(lane);
    times_ = times;
    if (times != nullptr) lane.reserve_events(operation_.steps.size() + 3);
    try {
      mark(lane, 0);
      upload(lane);
      mark(lane, 1);
      for (size_t i = 0; i < operation_.steps.size(); ++i) {
        check(static_cast<cudaError_t>(operation_.run_step(i, device_batch_, workspace_, lane.stream)),
              operation_.steps[i].name);
        mark(lane, i + 2);
      }
      download(lane);
      mark(lane, operation_.steps.size() + 2);
      check(cudaEventRecord(lane.done, lane.stream), "recording an event");
      // Later work of this stream waits for the wipe, this thread does not.
      check(cudaMemsetAsync(lane.arena.data(), 0, device_bytes(), lane.stream), "wiping device memory");
      check(cudaEventSynchronize(lane.done), operation_.scheme);
    } catch (...) {
      abandon(lane);
      throw;
    }
    unstage();
    wipe_staging();
    if (times != nullptr) collect(lane);
  }

 private:
  static void in(Transfer& t, const uint8_t* host, size_t record_bytes, size_t first, size_t records) {
    if (host == nullptr) return;
    t = {.host_in = host + first * record_bytes, .record_bytes = record_bytes, .records = records};
    t.pinned = is_pinned(host);
  }
  static void out(Transfer& t, uint8_t* host, size_t record_bytes, size_t first, size_t records) {
    if (host == nullptr) return;
    t = {.host_out = host + first * record_bytes, .record_bytes = record_bytes, .records = records};
    t.pinned = is_pinned(host);
  }

  std::array<const Transfer*, 8> all() const {
    return {&draws_, &pk_, &sk_, &ct_, &pk_out_, &sk_out_, &ct_out_, &ss_out_};
  }
  std::array<Transfer*, 8> all() { return {&draws_, &pk_, &sk_, &ct_, &pk_out_, &sk_out_, &ct_out_, &ss_out_}; }

  void place(Lane& lane) {
    size_t staging = aligned(kSeedBytes);
    for (const Transfer* t : all())
      staging += t->pinned ? 0 : aligned(t->bytes());
    lane.arena.reserve(device_bytes());
    lane.staging.reserve(staging);
    std::byte* device = lane.arena.data();
    std::byte* host = lane.staging.data();
    seed_device_ = device;
    seed_staged_ = host;
    device += aligned(kSeedBytes);
    host += aligned(kSeedBytes);
    for (Transfer* t : all()) {
      if (t->record_bytes == 0) continue;
      t->device = reinterpret_cast<uint8_t*>(device);
      device += aligned(t->bytes());
      if (t->pinned) continue;
      t->staged = host;
      host += aligned(t->bytes());
    }
    workspace_ = device;
    device_batch_ = {.count = count_,
                     .shared_key = batch_.shared_key,
                     .draws = draws_.device,
                     .seed = reinterpret_cast<const uint32_t*>(seed_device_),
                     .pk = pk_.device,
                     .sk = sk_.device,
                     .ct = ct_.device,
                     .pk_out = pk_out_.device,
                     .sk_out = sk_out_.device,
                     .ct_out = ct_out_.device,
                     .ss_out = ss_out_.device};
  }

  void upload(Lane& lane) {
    std::memcpy(seed_staged_, batch_.seed, kSeedBytes);
    check(cudaMemcpyAsync(seed_device_, seed_staged_, kSeedBytes, cudaMemcpyHostToDevice, lane.stream),
          "copying the seed");
    for (Transfer* t : all()) {
      if (t->host_in == nullptr) continue;
      const void* from = t->host_in;
      if (!t->pinned) from = std::memcpy(t->staged, t->host_in, t->bytes());
      check(cudaMemcpyAsync(t->device, from, t->bytes(), cudaMemcpyHostToDevice, lane.stream), "copying to the device");
    }
  }

  void download(Lane& lane) {
    for (Transfer* t : all()) {
      if (t->host_out == nullptr) continue;
      void* to = t->pinned ? static_cast<void*>(t->host_out) : t->staged;
      check(cudaMemcpyAsync(to, t->device, t->bytes(), cudaMemcpyDeviceToHost, lane.stream), "copying from the device");
    }
  }

  void unstage() {
    for (Transfer* t : all()) {
      if (t->host_out != nullptr && !t->pinned) std::memcpy(t->host_out, t->staged, t->bytes());
    }
  }

  void wipe_staging() {
    const auto wipe = [](std::byte* memory, size_t bytes) {
      if (memory == nullptr) return;
      std::memset(memory, 0, bytes);
      asm volatile("" : : "r"(memory) : "memory");
    };
    wipe(seed_staged_, kSeedBytes);
    for (const Transfer* secret : {&draws_, &sk_, &sk_out_, &ss_out_})
      wipe(secret->staged, secret->bytes());
  }

  /// After an error: nothing secret stays, as far as the device still obeys.
  void abandon(Lane& lane) {
    (void)cudaMemsetAsync(lane.arena.data(), 0, device_bytes(), lane.stream);
    (void)cudaStreamSynchronize(lane.stream);
    (void)cudaGetLastError();
    wipe_staging();
  }

  void mark(Lane& lane, size_t event) {
    if (times_ != nullptr) check(cudaEventRecord(lane.events[event], lane.stream), "recording an event");
  }

  void collect(Lane& lane) {
    for (size_t i = 0; i + 1 < operation_.steps.size() + 3; ++i) {
      float milliseconds = 0;
      check(cudaEventElapsedTime(&milliseconds, lane.events[i], lane.events[i + 1]), "reading an event");
      auto& entry = times_->entries[i];
      entry.calls += 1;
      entry.items += count_;
      entry.nanoseconds += static_cast<uint64_t>(milliseconds * 1e6F);
    }
  }

  const DeviceOperation& operation_;
  const HostBatch& batch_;
  const size_t count_;
  StepTimes* times_ = nullptr;
  Transfer draws_, pk_, sk_, ct_, pk_out_, sk_out_, ct_out_, ss_out_;
  std::byte *seed_device_ = nullptr, *seed_staged_ = nullptr, *workspace_ = nullptr;
  DeviceBatch device_batch_;
};

/// A lane that goes back to its device whatever happens.
class Borrowed {
 public:
  explicit Borrowed(Device& device) : device_(device), lane_(device.take()) {}
  ~Borrowed() { device_.give_back(std::move(lane_)); }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  Lane& operator*() { return *lane_; }

 private:
  Device& device_;
  std::unique_ptr<Lane> lane_;
};

Outcome open(ErrorText* why) {
  const DeviceManager& manager = DeviceManager::instance();
  if (!manager.devices().empty()) return Outcome::ok;
  say(why, manager.problem().c_str());
  return Outcome::failed;
}

int device_count() {
  return static_cast<int>(DeviceManager::instance().devices().size());
}

DeviceInfo device_info(int device) {
  return DeviceManager::instance().devices()[static_cast<size_t>(device)]->info();
}

const DeviceOperation* operation(const char* scheme, Op op) {
  for (const auto set : ntru::cuda::operations()) {
    if (std::strcmp(set.front().scheme, scheme) == 0) return &set[static_cast<size_t>(op)];
  }
  return nullptr;
}

/// Computes all items in parts that fit; halves the part each time memory runs out.
void run_parts(Device& device, const DeviceOperation& operation, const HostBatch& batch, StepTimes* times) {
  Borrowed lane(device);
  const size_t budget = device.lane_budget(DeviceManager::instance().budget.load(std::memory_order_relaxed));
  size_t part = batch.count;
  HostBatch current = batch;
  for (size_t first = 0; first < batch.count;) {
    const size_t count = std::min(part, batch.count - first);
    Passage passage(operation, current, first, count);
    if (count > 1 && passage.device_bytes() > budget) {
      part = (count + 1) / 2;
      continue;
    }
    // Items of different parts must not draw the same numbers: their index in the batch restarts.
    std::memcpy(current.seed, batch.seed, kSeedBytes);
    for (size_t b = 0; b < sizeof first; ++b)
      current.seed[b] ^= static_cast<uint8_t>(first >> (8 * b));
    try {
      passage.run(*lane, times);
      first += count;
    } catch (const CudaError& error) {
      if (error.code != cudaErrorMemoryAllocation || count == 1) throw;
      device.trim();
      part = (count + 1) / 2;
    }
  }
  std::memset(current.seed, 0, kSeedBytes);
  asm volatile("" : : "r"(current.seed) : "memory");
}

Outcome run(const DeviceOperation& operation, const HostBatch& batch, StepTimes* times, ErrorText* why) {
  Device* device = DeviceManager::instance().choose();
  if (device == nullptr) {
    say(why, "every GPU has failed in this process");
    return Outcome::failed;
  }
  try {
    run_parts(*device, operation, batch, times);
    return Outcome::ok;
  } catch (const CudaError& error) {
    say(why, error.text.c_str());
    if (error.code == cudaErrorMemoryAllocation) return Outcome::out_of_memory;
    device->mark_lost();
    return Outcome::failed;
  } catch (const std::bad_alloc&) {
    say(why, "out of host memory");
    return Outcome::out_of_memory;
  }
}

Outcome queue(const DeviceOperation& operation, const DeviceBatch& batch, std::byte* workspace, void* stream,
              ErrorText* why) {
  try {
    for (size_t i = 0; i < operation.steps.size(); ++i) {
      check(static_cast<cudaError_t>(operation.run_step(i, batch, workspace, stream)), operation.steps[i].name);
    }
    check(cudaMemsetAsync(workspace, 0, operation.workspace_bytes(batch.count), static_cast<cudaStream_t>(stream)),
          "wiping device memory");
    return Outcome::ok;
  } catch (const CudaError& error) {
    say(why, error.text.c_str());
    return error.code == cudaErrorMemoryAllocation ? Outcome::out_of_memory : Outcome::failed;
  }
}

void set_budget(size_t bytes) {
  DeviceManager::instance().budget.store(bytes, std::memory_order_relaxed);
}

constexpr ModuleTable kTable{.abi = kModuleAbi,
                             .table_bytes = sizeof(ModuleTable),
                             .open = open,
                             .device_count = device_count,
                             .device_info = device_info,
                             .operation = operation,
                             .run = run,
                             .queue = queue,
                             .set_budget = set_budget};

}  // namespace

}  // namespace polykem::cuda

extern "C" __attribute__((visibility("default"))) const polykem::cuda::ModuleTable* polykem_cuda_module() {
  return &polykem::cuda::kTable;
}
