// SPDX-License-Identifier: Apache-2.0
// What libpolykem_cuda.so exports: one function that returns one table. The library loads the module at run time and
// never links to it, so that one build runs with and without a GPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/device.hpp"

namespace polykem::cuda {

/// Changes with everything in this header, core/device.hpp, core/plan.hpp and core/status.hpp.
inline constexpr uint32_t kModuleAbi = 1;
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

/// A run of items whose records lie in host memory; the fields mean what core/scheme.hpp's Batch documents.
struct HostBatch {
  size_t count;
  bool shared_key;
  const uint8_t* draws;  ///< nullptr: the items draw from `seed`
  uint8_t seed[kSeedBytes];
  const uint8_t *pk, *sk, *ct;
  uint8_t *pk_out, *sk_out, *ct_out, *ss_out;
};

/// What a failed call means for the caller.
enum class Outcome : int {
  ok = 0,
  out_of_memory = 1,  ///< not even a single item fits the device's memory
  failed = 2,         ///< the driver or a kernel reported an error; the device may be lost
};

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
  /// Computes the batch on the device with the fewest batches in flight: copies in, steps, copies out, wipes what it
  /// used there. A batch that is larger than memory runs in parts. times (of operation.steps.size() + 2 entries:
  /// upload, the steps, download) may be nullptr. On an error no output has a meaning.
  Outcome (*run)(const DeviceOperation& operation, const HostBatch& batch, StepTimes* times, ErrorText* why);
  /// The same on records in device memory and on the caller's stream (a cudaStream_t) and device: only queues the work.
  /// workspace: operation.workspace_bytes(count) bytes of device memory, wiped behind the last step.
  Outcome (*queue)(const DeviceOperation& operation, const DeviceBatch& batch, std::byte* workspace, void* stream,
                   ErrorText* why);
  /// Bytes that run() may hold per device; 0: three quarters of what is free.
  void (*set_budget)(size_t bytes);
};

}  // namespace polykem::cuda
