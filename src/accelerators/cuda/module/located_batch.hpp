// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "accelerators/cuda/module/device.hpp"
#include "core/batch.hpp"

namespace polykem::cuda {

/// Thrown for a batch that cannot be run as requested.
struct Refusal {
  const char* text;
};

/// A batch and the kinds of memory of its arrays, for which the driver is asked once.
class LocatedBatch {
 public:
  /// Throws CudaError if the driver does not say where an array lies, and Refusal if the arrays are on several devices.
  LocatedBatch(const DeviceOperation& operation, const BatchView& batch, const uint8_t* seed);

  const DeviceOperation& operation() const { return operation_; }
  const BatchView& view() const { return batch_; }
  const uint8_t* seed() const { return seed_; }
  size_t count() const { return batch_.count; }
  MemoryKind memory_kind(size_t field) const { return kinds_[field]; }  ///< of kRecordFields[field]
  int ordinal() const { return ordinal_; }  ///< the device that holds arrays; -1 if there is none

  /// Bytes per item: of all records, of inputs copied to a device, and of outputs copied back.
  size_t item_bytes() const { return item_bytes_; }
  size_t crossing_bytes() const { return crossing_bytes_; }
  size_t returning_bytes() const { return returning_bytes_; }
  /// True if the items' status must be copied back.
  bool wants_status() const { return wants_status_; }
  bool makes_coins() const { return batch_.coins == nullptr && operation_.record_bytes.coins > 0; }

 private:
  const DeviceOperation& operation_;
  const BatchView batch_;
  const uint8_t* const seed_;
  std::array<MemoryKind, std::size(kRecordFields)> kinds_{};
  int ordinal_ = -1;
  size_t item_bytes_ = 0, crossing_bytes_ = 0, returning_bytes_ = 0;
  bool wants_status_ = false;
};

}  // namespace polykem::cuda
