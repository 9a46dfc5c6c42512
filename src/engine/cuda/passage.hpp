// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "engine/cuda/device.hpp"

namespace polykem::cuda {

/// Some consecutive items of a batch on their way through a lane: in, the operation's steps, out, wiped.
class Passage {
 public:
  Passage(const DeviceOperation& operation, const ModuleBatch& batch, size_t first, size_t count);

  /// Device memory it takes.
  size_t device_bytes() const;

  /// Returns when the outputs are where they belong. times: as ModuleTable::run. Throws CudaError; nothing secret stays
  /// then, as far as the device still obeys.
  void run(Device& device, Lane& lane, StepTimes* times);

 private:
  /// One array of records: where the caller has it and where the device does.
  struct Array {
    const uint8_t* in = nullptr;
    uint8_t* out = nullptr;
    size_t record_bytes = 0, records = 0;
    Place::Kind kind = Place::Kind::pageable;
    bool secret = false;
    uint8_t* device = nullptr;
    std::byte* staged = nullptr;

    size_t bytes() const { return record_bytes * records; }
    bool needs_device() const { return bytes() > 0 && kind != Place::Kind::device; }
    bool needs_staging() const { return bytes() > 0 && kind == Place::Kind::pageable; }
  };
  enum Name { kDraws, kPk, kSk, kCt, kIndex, kPkOut, kSkOut, kCtOut, kSsOut, kGathered, kArrays };

  void input(Name name, const void* from, size_t record_bytes, size_t first, size_t records, bool secret);
  void output(Name name, uint8_t* to, size_t record_bytes, size_t first, size_t records, bool secret);
  void place(Lane& lane);
  void upload(Lane& lane);
  void steps(Lane& lane);
  void download(Lane& lane);
  void unstage();
  void wipe_staging();
  void abandon(Lane& lane);
  void mark(Lane& lane, size_t event);
  void collect(Lane& lane);

  const DeviceOperation& operation_;
  const ModuleBatch& batch_;
  const size_t count_;
  StepTimes* times_ = nullptr;
  std::array<Array, kArrays> arrays_;
  std::byte *seed_device_ = nullptr, *seed_staged_ = nullptr, *workspace_ = nullptr;
  DeviceBatch device_batch_;
};

}  // namespace polykem::cuda
