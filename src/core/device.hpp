// SPDX-License-Identifier: Apache-2.0
// What a scheme gives the engine's accelerator module: one operation of one parameter set as a list of steps on a
// stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/plan.hpp"
#include "core/scheme.hpp"

namespace polykem {

/// A run of items whose records all lie in device memory, contiguous, with any alignment. The memory must be readable
/// up to the next multiple of 4 bytes.
struct DeviceBatch {
  size_t count = 0;
  bool shared_key = false;         ///< pk or sk is one record for all items
  const uint8_t* draws = nullptr;  ///< count x draw bytes, or nullptr: expanded from `seed`
  const uint32_t* seed = nullptr;  ///< 32 bytes, 4-byte aligned; a fresh one for every batch
  const uint8_t* pk = nullptr;
  const uint8_t* sk = nullptr;
  const uint8_t* ct = nullptr;
  uint8_t* pk_out = nullptr;
  uint8_t* sk_out = nullptr;
  uint8_t* ct_out = nullptr;
  uint8_t* ss_out = nullptr;

  bool operator==(const DeviceBatch&) const = default;
};

/// Record lengths of one operation's set; draws: of this operation.
struct RecordBytes {
  size_t pk, sk, ct, ss, draws;
};

/// Launches are asynchronous on `stream` (a cudaStream_t); the driver's error code comes back, 0 for none.
struct DeviceOperation {
  const char* scheme;
  Op op;
  RecordBytes record_bytes;
  std::span<const StepInfo> steps;  ///< the launch list
  size_t early_steps;  ///< so many of them read no pk, sk or ct, and may run beside the late steps of another batch
  size_t late_step;    ///< from here on they write no sk_out
  size_t (*workspace_bytes)(size_t items);  ///< device memory for the intermediates of a batch; a multiple of 256
  /// workspace: 256-byte aligned; holds secrets afterwards, which the caller wipes.
  int (*run_step)(size_t step, const DeviceBatch& batch, std::byte* workspace, void* stream);
};

}  // namespace polykem
