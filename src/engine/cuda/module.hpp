// SPDX-License-Identifier: Apache-2.0
// What libpolykem_cuda.so exports: one function that returns one table. The library loads the module at run time and
// never links to it, so that one build runs with and without a GPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/device.hpp"

namespace polykem::cuda {

/// Changes with the layout of everything in this header, core/device.hpp, core/plan.hpp and core/status.hpp.
inline constexpr uint32_t kModuleAbi = 4;
inline constexpr const char* kModuleEntry = "polykem_cuda_module";
inline constexpr size_t kSeedBytes = 32;

/// Why a call failed, in the driver's words; always terminated.
struct ErrorText {
  char text[256];
};

struct DeviceInfo {
  char name[64];
  int compute_major, compute_minor, multiprocessors;
  size_t memory_bytes;
};

/// A run of items; the fields mean what core/scheme.hpp's Batch documents. Each array lies in host memory (pinned or
/// not) or in the memory of one GPU, the same for all of them.
struct ModuleBatch {
  size_t count;
  bool shared_key;
  const uint8_t* draws;  ///< nullptr: the items draw from `seed`
  uint8_t seed[kSeedBytes];
  const uint8_t *pk, *sk, *ct;
  uint8_t *pk_out, *sk_out, *ct_out, *ss_out;
  const size_t* key_index;  ///< nullptr; or item i uses record key_index[i] of pk or sk, which then lies on the GPU
};

/// What a failed call means for the caller.
enum class Outcome : int {
  ok = 0,
  out_of_memory = 1,  ///< not even a single item fits the device's memory
  failed = 2,         ///< the driver or a kernel reported an error; the device may be lost
};

/// Failures that tests ask for.
enum class Fault : int { none = 0, allocation = 1, step = 2, synchronize = 3 };

/// All functions are thread-safe. Names and spans are static storage of the module.
struct ModuleTable {
  uint32_t abi;
  uint32_t table_bytes;

  /// Finds the devices; Outcome::failed and why, if there is no usable one. Idempotent.
  Outcome (*open)(ErrorText* why);
  int (*device_count)();
  DeviceInfo (*device_info)(int device);
  /// nullptr if the module does not have the set.
  const DeviceOperation* (*operation)(const char* scheme, Op op);
  /// Computes the batch on the device that holds its arrays, else on all devices: copies in, steps, copies out, wipes
  /// what it used there; in parts, so that copies and kernels overlap and memory suffices. times (of
  /// operation.steps.size() + 2 entries: upload, the steps, download) may be nullptr; with it nothing overlaps. On an
  /// error no output has a meaning.
  Outcome (*run)(const DeviceOperation& operation, const ModuleBatch& batch, StepTimes* times, ErrorText* why);
  /// The same with every array in device memory, on the caller's stream (a cudaStream_t) and current device: only
  /// queues the work. workspace: queue_bytes() bytes of device memory, 256-byte aligned, wiped behind the last step.
  Outcome (*queue)(const DeviceOperation& operation, const ModuleBatch& batch, std::byte* workspace, void* stream,
                   ErrorText* why);
  size_t (*queue_bytes)(const DeviceOperation& operation, size_t count);
  /// Device memory for keys; nullptr and why, if there is none.
  std::byte* (*allocate)(size_t bytes, ErrorText* why);
  /// Wipes and frees what allocate() gave.
  void (*release)(std::byte* memory, size_t bytes);
  /// True if the pointer leads to a GPU's memory.
  bool (*on_device)(const void* pointer);
  /// True if a GPU can copy from and to it directly: device memory or pinned host memory.
  bool (*reachable)(const void* pointer);
  /// Between any two places, now.
  Outcome (*copy)(void* to, const void* from, size_t bytes, ErrorText* why);
  Outcome (*zero)(void* memory, size_t bytes, ErrorText* why);
  /// Bytes that all batches may hold per device; 0: three quarters of its memory.
  void (*set_budget)(size_t bytes);
  /// For tests: the next call of this kind but `after` fails as if the driver had said so.
  void (*inject)(Fault fault, int after);
};

}  // namespace polykem::cuda
