// SPDX-License-Identifier: Apache-2.0
// The module's table: batches through a lane of a device, or straight onto the caller's stream.
#include "engine/cuda/module.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>

#include "engine/cuda/device.hpp"
#include "engine/cuda/passage.hpp"
#include "schemes/ntru/cuda/ntru_cuda.hpp"

namespace polykem::cuda {

namespace {

void say(ErrorText* why, const char* text) {
  if (why != nullptr) std::snprintf(why->text, sizeof why->text, "%s", text);
}

/// Runs `body`, turning what it throws into an outcome and a text.
template <class F>
Outcome guarded(ErrorText* why, F&& body) {
  try {
    body();
    return Outcome::ok;
  } catch (const CudaError& error) {
    say(why, error.text.c_str());
    return error.code == cudaErrorMemoryAllocation ? Outcome::out_of_memory : Outcome::failed;
  } catch (const std::bad_alloc&) {
    say(why, "out of host memory");
    return Outcome::out_of_memory;
  }
}

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
void run_parts(Device& device, const DeviceOperation& operation, const ModuleBatch& batch, StepTimes* times) {
  Borrowed lane(device);
  const size_t budget = device.lane_budget(DeviceManager::instance().budget.load(std::memory_order_relaxed));
  size_t part = batch.count;
  ModuleBatch current = batch;
  for (size_t first = 0; first < batch.count;) {
    const size_t count = std::min(part, batch.count - first);
    Passage passage(operation, current, first, count);
    if (count > 1 && passage.device_bytes() > budget) {
      part = (count + 1) / 2;
      continue;
    }
    // Items of different parts must not draw the same numbers: their index restarts with every part.
    std::memcpy(current.seed, batch.seed, kSeedBytes);
    for (size_t b = 0; b < sizeof first; ++b)
      current.seed[b] ^= static_cast<uint8_t>(first >> (8 * b));
    try {
      passage.run(device, *lane, times);
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

/// The device that holds an array of the batch, else the least busy one; nullptr if that one is lost.
Device* device_for(const ModuleBatch& batch) {
  DeviceManager& manager = DeviceManager::instance();
  const void* arrays[] = {batch.pk,     batch.sk,     batch.ct,     batch.draws,
                          batch.pk_out, batch.sk_out, batch.ct_out, batch.ss_out};
  for (const void* array : arrays) {
    if (array == nullptr) continue;
    const Place place = place_of(array);
    if (place.kind == Place::Kind::device) return manager.find(place.ordinal);
  }
  return manager.choose();
}

Outcome run(const DeviceOperation& operation, const ModuleBatch& batch, StepTimes* times, ErrorText* why) {
  Device* device = device_for(batch);
  if (device == nullptr) {
    say(why, "the GPU has failed in this process");
    return Outcome::failed;
  }
  const Outcome outcome = guarded(why, [&] { run_parts(*device, operation, batch, times); });
  if (outcome == Outcome::failed) device->mark_lost();
  return outcome;
}

size_t queue_bytes(const DeviceOperation& operation, size_t count) {
  return operation.workspace_bytes(count) + 256;
}

Outcome queue(const DeviceOperation& operation, const ModuleBatch& batch, std::byte* workspace, void* stream,
              ErrorText* why) {
  return guarded(why, [&] {
    const auto on = static_cast<cudaStream_t>(stream);
    // From pageable memory: the driver has its own copy when the call returns.
    check(cudaMemcpyAsync(workspace, batch.seed, kSeedBytes, cudaMemcpyHostToDevice, on), "copying the seed");
    const DeviceBatch device{.count = batch.count,
                             .shared_key = batch.shared_key,
                             .draws = batch.draws,
                             .seed = reinterpret_cast<const uint32_t*>(workspace),
                             .pk = batch.pk,
                             .sk = batch.sk,
                             .ct = batch.ct,
                             .pk_out = batch.pk_out,
                             .sk_out = batch.sk_out,
                             .ct_out = batch.ct_out,
                             .ss_out = batch.ss_out};
    for (size_t i = 0; i < operation.steps.size(); ++i) {
      check(static_cast<cudaError_t>(operation.run_step(i, device, workspace + 256, stream)), operation.steps[i].name);
    }
    check(cudaMemsetAsync(workspace, 0, queue_bytes(operation, batch.count), on), "wiping device memory");
  });
}

std::byte* allocate(size_t bytes, ErrorText* why) {
  Device* device = DeviceManager::instance().choose();
  if (device == nullptr) {
    say(why, "the GPU has failed in this process");
    return nullptr;
  }
  void* memory = nullptr;
  const Outcome outcome = guarded(why, [&] {
    check(cudaSetDevice(device->ordinal()), "choosing the device");
    fail_if_due(Fault::allocation, cudaErrorMemoryAllocation, "allocating device memory");
    check(cudaMalloc(&memory, bytes + 4), "allocating device memory");  // readable to the next multiple of 4
  });
  return outcome == Outcome::ok ? static_cast<std::byte*>(memory) : nullptr;
}

void release(std::byte* memory, size_t bytes) {
  if (memory == nullptr) return;
  (void)cudaMemset(memory, 0, bytes);
  (void)cudaFree(memory);
  (void)cudaGetLastError();
}

bool on_device(const void* pointer) {
  return place_of(pointer).kind == Place::Kind::device;
}

Outcome copy(void* to, const void* from, size_t bytes, ErrorText* why) {
  return guarded(why, [&] { check(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), "copying"); });
}

Outcome zero(void* memory, size_t bytes, ErrorText* why) {
  return guarded(why, [&] { check(cudaMemset(memory, 0, bytes), "wiping device memory"); });
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
                             .queue_bytes = queue_bytes,
                             .allocate = allocate,
                             .release = release,
                             .on_device = on_device,
                             .copy = copy,
                             .zero = zero,
                             .set_budget = set_budget,
                             .inject = inject};

}  // namespace

}  // namespace polykem::cuda

extern "C" __attribute__((visibility("default"))) const polykem::cuda::ModuleTable* polykem_cuda_module() {
  return &polykem::cuda::kTable;
}
