// SPDX-License-Identifier: Apache-2.0
// The module's table. A batch runs through the pipeline of a device, or directly on the caller's stream.
#include "accelerators/cuda/module/module.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iterator>
#include <new>
#include <optional>
#include <vector>

#include "accelerators/cuda/module/device.hpp"
#include "accelerators/cuda/module/interface_hash.hpp"
#include "accelerators/cuda/module/launches.hpp"
#include "accelerators/cuda/module/pipeline.hpp"
#include "accelerators/cuda/module/seed_pool.hpp"
#include "prim/cuda/choice.hpp"
#include "schemes/device_schemes.hpp"

namespace polykem::cuda {

namespace {

void say(ErrorText* why, const char* text) {
  if (why != nullptr) std::snprintf(why->text, sizeof why->text, "%s", text);
}

/// Runs `body`, turning what it throws into an outcome and a text.
template <class F>
Outcome guarded(const CallersState& callers, ErrorText* why, F&& body) {
  if (!callers.allowed()) return say(why, "the process ends"), Outcome::kFailed;
  try {
    body();
    return Outcome::kOk;
  } catch (const CudaError& error) {
    say(why, error.text.c_str());
    return error.code == cudaErrorMemoryAllocation ? Outcome::kOutOfMemory : Outcome::kFailed;
  } catch (const Refusal& refusal) {
    say(why, refusal.text);
    return Outcome::kRefused;
  } catch (const std::bad_alloc&) {
    say(why, "out of host memory");
    return Outcome::kOutOfMemory;
  } catch (const std::exception& error) {
    say(why, error.what());
    return Outcome::kFailed;
  }
}

Outcome open_devices(ErrorText* why) {
  const CallersState callers;
  return guarded(callers, why, [] {
    const DeviceManager& manager = DeviceManager::instance();
    if (manager.devices().empty()) throw CudaError{cudaErrorNoDevice, manager.problem()};
  });
}

Outcome open(ErrorText* why) {
  const DriverCall call;
  if (!call.allowed()) return say(why, "the process ends"), Outcome::kFailed;
  Outcome outcome = Outcome::kFailed;
  exit_gate.stay_first_during([&] { outcome = open_devices(why); });
  return outcome;
}

int device_count() {
  return static_cast<int>(DeviceManager::instance().devices().size());
}

DeviceInfo device_info(int device) {
  return DeviceManager::instance().devices()[static_cast<size_t>(device)]->info();
}

/// True if every device can run the set.
bool fits(const DeviceScheme& scheme) {
  const auto& devices = DeviceManager::instance().devices();
  return std::all_of(devices.begin(), devices.end(),
                     [&](const auto& device) { return scheme.shared_bytes <= device->info().shared_bytes; });
}

const DeviceScheme* scheme(const char* name) {
  for (const DeviceScheme* known : device_schemes()) {
    if (std::strcmp(known->name, name) == 0) return fits(*known) ? known : nullptr;
  }
  return nullptr;
}

/// The devices a batch may use: the one that holds its arrays, else all. Empty if they are lost.
std::vector<Device*> devices_for(const LocatedBatch& batch) {
  DeviceManager& manager = DeviceManager::instance();
  std::vector<Device*> usable;
  if (batch.ordinal() >= 0) {
    if (Device* device = manager.find(batch.ordinal()); device != nullptr && !device->lost()) usable.push_back(device);
    return usable;
  }
  for (const auto& device : manager.devices()) {
    if (!device->lost()) usable.push_back(device.get());
  }
  return usable;
}

Outcome run(const DeviceOperation& operation, const BatchView& view, const uint8_t* seed, StepTimes* times,
            ErrorText* why) {
  const CallersState callers;
  std::optional<LocatedBatch> batch;
  std::optional<Pipeline> pipeline;
  const Outcome outcome = guarded(callers, why, [&] {
    batch.emplace(operation, view, seed);
    const std::vector<Device*> devices = devices_for(*batch);
    if (devices.empty()) throw CudaError{cudaErrorUnknown, "the GPU has failed in this process"};
    pipeline.emplace(devices, *batch, times).run();
    pipeline->batch_succeeded();
    pipeline.reset();
  });
  if (outcome == Outcome::kFailed && pipeline.has_value()) pipeline->used().batch_failed();
  return outcome;
}

constexpr size_t kSeedRoom = 256;

size_t queue_workspace_bytes(const DeviceOperation& operation, size_t count) {
  return operation.workspace_bytes(count) + kSeedRoom;
}

/// True if the batch may be queued on the stream: its arrays are on the current device, and the stream is not being
/// captured, since a graph would replay the same random numbers.
bool may_queue(const DeviceOperation& operation, const BatchView& view, const std::byte* workspace, cudaStream_t stream,
               ErrorText* why) {
  if (view.count > operation.max_items) return say(why, "the batch has more items than one launch can count"), false;
  int current = -1;
  check(cudaGetDevice(&current), "asking for the current device");
  const auto elsewhere = [current](const void* array) {
    if (array == nullptr) return false;
    const MemoryLocation found = location_of(array);
    if (found.kind == MemoryKind::kUnknown)
      throw CudaError{cudaErrorUnknown, "the driver does not say where an array lies"};
    return found.ordinal != current;
  };
  const bool misplaced = std::any_of(std::begin(kRecordFields), std::end(kRecordFields),
                                     [&](const FieldInfo& f) { return elsewhere(f.data(view)); });
  if (misplaced || elsewhere(view.item_status) || elsewhere(workspace))
    return say(why, "an array lies on another device than the current one"), false;
  if (reinterpret_cast<uintptr_t>(workspace) % 256 != 0)
    return say(why, "the workspace is not 256-byte aligned"), false;
  if (reinterpret_cast<uintptr_t>(view.item_status) % alignof(Status) != 0)
    return say(why, "item_status is not aligned"), false;
  cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(stream, &capturing), "asking whether the stream is captured");
  const bool needs_coins = view.coins == nullptr && operation.record_bytes.coins > 0;
  if (needs_coins && capturing != cudaStreamCaptureStatusNone)
    return say(why, "a captured batch would make the same random numbers at every replay"), false;
  return true;
}

Outcome queue(const DeviceOperation& operation, const BatchView& view, const uint8_t* seed, std::byte* workspace,
              void* stream, ErrorText* why) {
  const CallersState callers;
  const auto on = static_cast<cudaStream_t>(stream);
  const size_t bytes = operation.zeroized_bytes(view.count) + kSeedRoom;
  bool refused = true;
  const Outcome outcome = guarded(callers, why, [&] {
    refused = !may_queue(operation, view, workspace, on, why);
    if (refused) return;
    if (view.coins == nullptr && operation.record_bytes.coins > 0) SeedPool::instance().queue(workspace, seed, on);
    if (view.item_status != nullptr)
      check(cudaMemsetAsync(view.item_status, 0, view.count * sizeof(Status), on), "clearing status");
    DeviceBatch batch{view};
    batch.seed = reinterpret_cast<const uint32_t*>(workspace);
    for_each_launch(operation, batch, 0, operation.steps.size(), [&](size_t step, size_t tile) {
      check(static_cast<cudaError_t>(operation.run_step(step, tile, batch, workspace + kSeedRoom, stream)),
            operation.steps[step].info.name);
    });
    check(cudaMemsetAsync(workspace, 0, bytes, on), "zeroizing device memory");
  });
  if (refused) return outcome == Outcome::kOk ? Outcome::kRefused : outcome;
  if (outcome != Outcome::kOk) {
    (void)cudaMemsetAsync(workspace, 0, bytes, on);
    (void)cudaGetLastError();
  }
  return outcome;
}

/// The device that holds the memory, or the least busy one if `memory` is nullptr; made current. Throws CudaError.
Device& device_of(const void* memory) {
  DeviceManager& manager = DeviceManager::instance();
  Device* const device = memory == nullptr ? manager.choose() : manager.find(location_of(memory).ordinal);
  if (device == nullptr) throw CudaError{cudaErrorUnknown, "the GPU has failed in this process"};
  device->make_current();
  return *device;
}

/// Calls work(stream) for memory on a device, and waits until what it queued is done. Throws CudaError.
template <class Work>
void work_beside(const void* memory, const char* what, Work&& work) {
  const cudaStream_t stream = device_of(memory).streams().keys;
  check(work(stream), what);
  check(cudaStreamSynchronize(stream), what);
}

std::byte* allocate(size_t bytes, const void* beside, ErrorText* why) {
  const CallersState callers;
  void* memory = nullptr;
  const Outcome outcome = guarded(callers, why, [&] {
    device_of(beside).streams();  // so that the zeroization in release() needs nothing that can fail
    fail_if_due(Fault::kAllocation, cudaErrorMemoryAllocation, "allocating device memory");
    check(cudaMalloc(&memory, bytes + 4), "allocating device memory");  // readable to the next multiple of 4
  });
  return outcome == Outcome::kOk ? static_cast<std::byte*>(memory) : nullptr;
}

Outcome zero(void* memory, size_t bytes, ErrorText* why) {
  const CallersState callers;
  return guarded(callers, why, [&] {
    work_beside(memory, "zeroizing device memory",
                [&](cudaStream_t stream) { return cudaMemsetAsync(memory, 0, bytes, stream); });
  });
}

void release(std::byte* memory, size_t bytes) {
  if (memory == nullptr) return;
  const CallersState callers;
  if (!callers.allowed()) return;
  (void)zero(memory, bytes, nullptr);
  (void)cudaFree(memory);
  (void)cudaGetLastError();
}

Outcome expand(const DeviceExpandedKeyFormat& format, std::byte* out, const uint8_t* keys, size_t count,
               ErrorText* why) {
  const CallersState callers;
  DeviceMemory workspace;
  return guarded(callers, why, [&] {
    work_beside(keys, "expanding keys", [&](cudaStream_t stream) {
      const size_t bytes = format.workspace_bytes(count);
      workspace.reserve(bytes);
      const auto result = static_cast<cudaError_t>(format.expand(out, keys, count, workspace.data(), stream));
      if (bytes > 0) check(cudaMemsetAsync(workspace.data(), 0, bytes, stream), "zeroizing device memory");
      return result;
    });
  });
}

MemoryKind memory_kind_of(const void* pointer) {
  const CallersState callers;
  return callers.allowed() ? location_of(pointer).kind : MemoryKind::kUnknown;
}

/// Copies ordinary memory through pinned memory, which is zeroized. The driver would leave copies in its own buffers.
Outcome copy(void* to, const void* from, size_t bytes, ErrorText* why) {
  constexpr size_t kPieceBytes = size_t{4} << 20;
  const CallersState callers;
  PinnedMemory piece;
  return guarded(callers, why, [&] {
    const void* const on_device = location_of(to).kind == MemoryKind::kDevice ? to : from;
    const auto copy_now = [&](size_t at, const void* source, size_t count) {
      work_beside(on_device, "copying", [&](cudaStream_t stream) {
        return cudaMemcpyAsync(static_cast<std::byte*>(to) + at, source, count, cudaMemcpyDefault, stream);
      });
    };
    if (location_of(from).kind != MemoryKind::kPageable) return copy_now(0, from, bytes);
    piece.reserve(std::min(bytes, kPieceBytes));
    for (size_t done = 0; done < bytes; done += kPieceBytes) {
      const size_t now = std::min(bytes - done, kPieceBytes);
      std::memcpy(piece.data(), static_cast<const std::byte*>(from) + done, now);
      copy_now(done, piece.data(), now);
    }
  });
}

void set_budget(size_t bytes) {
  DeviceManager::instance().budget.store(bytes, std::memory_order_relaxed);
}

void choose_kernels(KernelChoice choice) {
  kernel_choice.store(choice, std::memory_order_relaxed);
}

constexpr ModuleTable kTable{.interface_hash = kInterfaceHash,
                             .table_bytes = sizeof(ModuleTable),
                             .build = &kBuild,
                             .open = open,
                             .device_count = device_count,
                             .device_info = device_info,
                             .scheme = scheme,
                             .run = run,
                             .queue = queue,
                             .queue_workspace_bytes = queue_workspace_bytes,
                             .allocate = allocate,
                             .release = release,
                             .expand = expand,
                             .memory_kind_of = memory_kind_of,
                             .copy = copy,
                             .zero = zero,
                             .set_budget = set_budget,
                             .inject = inject,
                             .choose_kernels = choose_kernels};

}  // namespace

}  // namespace polykem::cuda

extern "C" __attribute__((visibility("default"))) const polykem::cuda::ModuleTable* polykem_cuda_module() {
  return &polykem::cuda::kTable;
}
