// SPDX-License-Identifier: Apache-2.0
// The interface of libpolykem_cuda.so, which exports one function that returns one table. The library loads the module
// at run time and never links to it, so that one build runs with and without a GPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/build_info.hpp"
#include "core/device.hpp"
#include "core/round.hpp"

namespace polykem::cuda {

inline constexpr const char* kModuleEntry = "polykem_cuda_module";
inline constexpr size_t kSeedBytes = 32;

/// The granularity of chunks and parts, which makes whole bus transactions; the last chunk has the rest.
constexpr size_t in_whole_transactions(size_t items) {
  return rounded_up(items, 64);
}

/// The reason why a call failed, as the driver reports it; always null-terminated.
struct ErrorText {
  char text[256];
};

struct DeviceInfo {
  char name[64];
  int compute_major, compute_minor, multiprocessors;
  size_t memory_bytes;
  size_t shared_bytes;  ///< the most shared memory of a block
};

/// The kind of memory that an array is in.
enum class MemoryKind : int {
  kPageable = 0,  ///< ordinary host memory
  kPinned = 1,    ///< host memory that a GPU can copy from and to directly
  kDevice = 2,    ///< a GPU's memory
  kUnknown = 3,   ///< the driver does not answer: the GPU may be lost
};

/// The outcome of a call.
enum class Outcome : int {
  kOk = 0,
  kOutOfMemory = 1,  ///< the device's memory does not even hold a single item
  kFailed = 2,       ///< the driver or a kernel reported an error; the device may be lost
  kRefused = 3,      ///< the batch cannot be run as it is given: too many items, arrays on several devices
};

/// The failures that tests inject.
enum class Fault : int { kNone = 0, kAllocation = 1, kStep = 2, kSynchronize = 3 };

/// All functions are thread-safe. Names and spans are static storage of the module. A batch's arrays lie in host memory
/// (pinned or not) or in the memory of one GPU, the same for all of them; key_index lies in host memory, and so does
/// item_status except for queue().
struct ModuleTable {
  uint32_t interface_hash;  ///< kInterfaceHash of the module's sources (interface.cmake)
  uint32_t table_bytes;
  const BuildInfo* build;  ///< what the module was built from

  /// Finds the devices; Outcome::kFailed and why, if there is no usable one. Idempotent.
  Outcome (*open)(ErrorText* why);
  int (*device_count)();
  DeviceInfo (*device_info)(int device);
  /// nullptr if the module does not have the set.
  const DeviceScheme* (*scheme)(const char* name);
  /// Computes the batch on the device that holds its arrays, else on all devices. It copies inputs in, runs the steps,
  /// copies outputs back and zeroizes the memory it used; it does so in parts, so that copies and kernels overlap and
  /// memory suffices. seed: kSeedBytes bytes, used where batch.coins is nullptr. times (operation.steps.size() + 2
  /// entries: upload, the steps, download) may be nullptr; if it is given, nothing overlaps. After an error the outputs
  /// are undefined.
  Outcome (*run)(const DeviceOperation& operation, const BatchView& batch, const uint8_t* seed, StepTimes* times,
                 ErrorText* why);
  /// Queues the same work on the caller's stream (a cudaStream_t) of the current device and returns. Every array,
  /// item_status too, is in device memory. workspace: queue_workspace_bytes() bytes of device memory, 256-byte aligned,
  /// zeroized after the last step.
  Outcome (*queue)(const DeviceOperation& operation, const BatchView& batch, const uint8_t* seed, std::byte* workspace,
                   void* stream, ErrorText* why);
  size_t (*queue_workspace_bytes)(const DeviceOperation& operation, size_t count);
  /// Allocates device memory for keys, on the device that holds `beside` (nullptr: any device). Returns nullptr and
  /// says why if there is not enough.
  std::byte* (*allocate)(size_t bytes, const void* beside, ErrorText* why);
  /// Zeroizes and frees memory from allocate().
  void (*release)(std::byte* memory, size_t bytes);
  /// Writes the expanded form of `count` keys. Both arrays are from allocate(), on the same device.
  Outcome (*expand)(const DeviceExpandedKeyFormat& format, std::byte* out, const uint8_t* keys, size_t count,
                    ErrorText* why);
  MemoryKind (*memory_kind_of)(const void* pointer);
  /// Copies to device memory from any memory, or from it to the host, and waits until it is done.
  Outcome (*copy)(void* to, const void* from, size_t bytes, ErrorText* why);
  /// Overwrites device memory, and waits until that is done.
  Outcome (*zero)(void* memory, size_t bytes, ErrorText* why);
  /// The bytes that all batches together may hold per device; 0: three quarters of its memory.
  void (*set_budget)(size_t bytes);
  /// For tests: after `after` more calls of this kind, the next one fails as if in the driver.
  void (*inject)(Fault fault, int after);
  /// For tests: selects the kernels of all following batches.
  void (*choose_kernels)(KernelChoice choice);
};

}  // namespace polykem::cuda
