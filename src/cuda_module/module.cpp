// SPDX-License-Identifier: Apache-2.0
// The module's table. A batch runs through the pipeline of a device, or directly on the caller's stream.
#include "cuda_module/module.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iterator>
#include <new>
#include <optional>
#include <vector>

#include "cuda_module/device.hpp"
#include "cuda_module/pipeline.hpp"
#include "schemes/device_schemes.hpp"

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
  } catch (const Refusal& refusal) {
    say(why, refusal.text);
    return Outcome::refused;
  } catch (const std::bad_alloc&) {
    say(why, "out of host memory");
    return Outcome::out_of_memory;
  } catch (const std::exception& error) {
    say(why, error.what());
    return Outcome::failed;
  }
}

Outcome open(ErrorText* why) {
  return guarded(why, [] {
    const DeviceManager& manager = DeviceManager::instance();
    if (manager.devices().empty()) throw CudaError{cudaErrorNoDevice, manager.problem()};
  });
}

int device_count() {
  return static_cast<int>(DeviceManager::instance().devices().size());
}

DeviceInfo device_info(int device) {
  return DeviceManager::instance().devices()[static_cast<size_t>(device)]->info();
}

const DeviceScheme* scheme(const char* name) {
  for (const DeviceScheme* known : device_schemes()) {
    if (std::strcmp(known->name, name) == 0) return known;
  }
  return nullptr;
}

/// The devices a batch may use: the one that holds its arrays, else all. Empty if they are lost.
std::vector<Device*> devices_for(const PlacedBatch& batch) {
  DeviceManager& manager = DeviceManager::instance();
  std::vector<Device*> usable;
  if (batch.ordinal() >= 0) {
    if (Device* device = manager.find(batch.ordinal()); device != nullptr) usable.push_back(device);
    return usable;
  }
  for (const auto& device : manager.devices()) {
    if (!device->lost()) usable.push_back(device.get());
  }
  return usable;
}

Outcome run(const DeviceOperation& operation, const BatchView& view, const uint8_t* seed, StepTimes* times,
            ErrorText* why) {
  const CurrentDevice callers;
  std::optional<PlacedBatch> batch;
  std::optional<Pipeline> pipeline;
  const Outcome outcome = guarded(why, [&] {
    batch.emplace(operation, view, seed);
    const std::vector<Device*> devices = devices_for(*batch);
    if (devices.empty()) throw CudaError{cudaErrorUnknown, "the GPU has failed in this process"};
    pipeline.emplace(devices, *batch, times).run();
    pipeline.reset();
  });
  if (outcome == Outcome::failed && pipeline.has_value()) pipeline->used().mark_lost();
  return outcome;
}

constexpr size_t kSeedRoom = 256;

size_t queue_bytes(const DeviceOperation& operation, size_t count) {
  return operation.workspace_bytes(count) + kSeedRoom;
}

void queue_steps(const DeviceOperation& operation, const DeviceBatch& batch, std::byte* workspace, void* stream) {
  for (size_t i = 0; i < operation.steps.size();) {
    size_t end = i + 1;
    const bool tiled = operation.steps[i].info.tiled;
    while (tiled && end < operation.steps.size() && operation.steps[end].info.tiled)
      ++end;
    const size_t tiles = tiled ? operation.tiles(batch) : 1;
    for (size_t tile = 0; tile < tiles; ++tile) {
      for (size_t step = i; step < end; ++step)
        check(static_cast<cudaError_t>(operation.run_step(step, tile, batch, workspace, stream)),
              operation.steps[step].info.name);
    }
    i = end;
  }
}

/// True if the batch may be queued on the stream: its arrays are on the current device, and no graph would replay it
/// with the same random numbers.
bool may_queue(const DeviceOperation& operation, const BatchView& view, const std::byte* workspace, cudaStream_t stream,
               ErrorText* why) {
  if (view.count > operation.most_items) return say(why, "the batch has more items than one launch can count"), false;
  int current = -1;
  check(cudaGetDevice(&current), "asking for the current device");
  const auto elsewhere = [current](const void* array) {
    if (array == nullptr) return false;
    const PlaceOnDevice found = place_of(array);
    if (found.place == Place::unknown) throw CudaError{cudaErrorUnknown, "the driver does not say where an array lies"};
    return found.ordinal != current;
  };
  const bool misplaced = std::any_of(std::begin(kRecordFields), std::end(kRecordFields),
                                     [&](const FieldInfo& f) { return elsewhere(f.data(view)); });
  if (misplaced || elsewhere(workspace)) return say(why, "an array lies on another device than the current one"), false;
  if (reinterpret_cast<uintptr_t>(workspace) % 256 != 0)
    return say(why, "the workspace is not 256-byte aligned"), false;
  cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(stream, &capturing), "asking whether the stream is captured");
  const bool draws = view.draws == nullptr && operation.record_bytes.draws > 0;
  if (draws && capturing != cudaStreamCaptureStatusNone)
    return say(why, "a captured batch would draw the same random numbers at every replay"), false;
  return true;
}

Outcome queue(const DeviceOperation& operation, const BatchView& view, const uint8_t* seed, std::byte* workspace,
              void* stream, ErrorText* why) {
  const auto on = static_cast<cudaStream_t>(stream);
  const size_t bytes = queue_bytes(operation, view.count);
  bool refused = true;
  const Outcome outcome = guarded(why, [&] {
    refused = !may_queue(operation, view, workspace, on, why);
    if (refused) return;
    // The seed is in pageable memory, so the driver has copied it when the call returns.
    if (view.draws == nullptr && operation.record_bytes.draws > 0)
      check(cudaMemcpyAsync(workspace, seed, kSeedBytes, cudaMemcpyHostToDevice, on), "copying the seed");
    DeviceBatch batch{view};
    batch.seed = reinterpret_cast<const uint32_t*>(workspace);
    queue_steps(operation, batch, workspace + kSeedRoom, stream);
    check(cudaMemsetAsync(workspace, 0, bytes, on), "wiping device memory");
  });
  if (refused) return outcome == Outcome::ok ? Outcome::refused : outcome;
  if (outcome != Outcome::ok) {
    (void)cudaMemsetAsync(workspace, 0, bytes, on);
    (void)cudaGetLastError();
  }
  return outcome;
}

/// The device that holds the memory; nullptr: the least busy one, where `memory` is nullptr.
Device* device_of(const void* memory) {
  DeviceManager& manager = DeviceManager::instance();
  return memory == nullptr ? manager.choose() : manager.find(place_of(memory).ordinal);
}

std::byte* allocate(size_t bytes, const void* beside, ErrorText* why) {
  const CurrentDevice callers;
  void* memory = nullptr;
  const Outcome outcome = guarded(why, [&] {
    const Device* device = device_of(beside);
    if (device == nullptr) throw CudaError{cudaErrorUnknown, "the GPU has failed in this process"};
    device->make_current();
    fail_if_due(Fault::allocation, cudaErrorMemoryAllocation, "allocating device memory");
    check(cudaMalloc(&memory, bytes + 4), "allocating device memory");  // readable to the next multiple of 4
  });
  return outcome == Outcome::ok ? static_cast<std::byte*>(memory) : nullptr;
}

void release(std::byte* memory, size_t bytes) {
  if (memory == nullptr) return;
  const CurrentDevice callers;
  const PlaceOnDevice place = place_of(memory);
  if (place.place == Place::device) (void)cudaSetDevice(place.ordinal);
  (void)cudaMemset(memory, 0, bytes);
  (void)cudaFree(memory);
  (void)cudaGetLastError();
}

Outcome expand(const DeviceKeyForm& form, std::byte* out, const uint8_t* keys, size_t count, ErrorText* why) {
  const CurrentDevice callers;
  DeviceMemory workspace;
  return guarded(why, [&] {
    const Device* device = device_of(keys);
    if (device == nullptr) throw CudaError{cudaErrorUnknown, "the GPU has failed in this process"};
    device->make_current();
    const size_t bytes = form.workspace_bytes(count);
    workspace.reserve(bytes);
    const auto result = static_cast<cudaError_t>(form.expand(out, keys, count, workspace.data(), nullptr));
    check(bytes == 0 ? cudaSuccess : cudaMemset(workspace.data(), 0, bytes), "wiping device memory");
    check(result, "expanding keys");
    check(cudaStreamSynchronize(nullptr), "expanding keys");
  });
}

Place place(const void* pointer) {
  return place_of(pointer).place;
}

/// Copies ordinary memory through pinned memory that is wiped: the driver would leave copies in its own buffers.
Outcome copy(void* to, const void* from, size_t bytes, ErrorText* why) {
  constexpr size_t kPieceBytes = size_t{4} << 20;
  const CurrentDevice callers;
  PinnedMemory piece;
  return guarded(why, [&] {
    const PlaceOnDevice target = place_of(to);
    if (target.place == Place::device) check(cudaSetDevice(target.ordinal), "choosing the device");
    if (place_of(from).place != Place::pageable) {
      check(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), "copying");
      return;
    }
    piece.reserve(std::min(bytes, kPieceBytes));
    for (size_t done = 0; done < bytes; done += kPieceBytes) {
      const size_t now = std::min(bytes - done, kPieceBytes);
      std::memcpy(piece.data(), static_cast<const std::byte*>(from) + done, now);
      check(cudaMemcpy(static_cast<std::byte*>(to) + done, piece.data(), now, cudaMemcpyDefault), "copying");
    }
  });
}

Outcome zero(void* memory, size_t bytes, ErrorText* why) {
  const CurrentDevice callers;
  return guarded(why, [&] {
    const PlaceOnDevice place = place_of(memory);
    if (place.place == Place::device) check(cudaSetDevice(place.ordinal), "choosing the device");
    check(cudaMemset(memory, 0, bytes), "wiping device memory");
    check(cudaStreamSynchronize(nullptr), "wiping device memory");
  });
}

void set_budget(size_t bytes) {
  DeviceManager::instance().budget.store(bytes, std::memory_order_relaxed);
}

constexpr ModuleTable kTable{.abi = kModuleAbi,
                             .table_bytes = sizeof(ModuleTable),
                             .open = open,
                             .device_count = device_count,
                             .device_info = device_info,
                             .scheme = scheme,
                             .run = run,
                             .queue = queue,
                             .queue_bytes = queue_bytes,
                             .allocate = allocate,
                             .release = release,
                             .expand = expand,
                             .place_of = place,
                             .copy = copy,
                             .zero = zero,
                             .set_budget = set_budget,
                             .inject = inject};

}  // namespace

}  // namespace polykem::cuda

extern "C" __attribute__((visibility("default"))) const polykem::cuda::ModuleTable* polykem_cuda_module() {
  return &polykem::cuda::kTable;
}
