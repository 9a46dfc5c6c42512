// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <initializer_list>
#include <memory>

#include "engine/cuda/device.hpp"

namespace polykem::cuda {

/// Some consecutive items of a batch on their way through a device: in, the operation's steps, out, wiped.
class Passage {
 public:
  /// Batches up to this size cross on a stream of their own, past larger ones.
  static constexpr size_t kFewItems = 2048;

  Passage(Device& device, const DeviceOperation& operation, const ModuleBatch& batch, size_t first, size_t count);
  /// What start() began and finish() did not end is wiped, as far as the device still obeys.
  ~Passage();
  Passage(const Passage&) = delete;
  Passage& operator=(const Passage&) = delete;

  Device& device() const { return device_; }
  /// Device memory it takes.
  size_t device_bytes() const;
  /// Queues everything. times: as ModuleTable::run; the steps then run one by one on one stream. The lane may be that
  /// of an earlier passage of the batch as it was. Throws CudaError.
  void start(std::unique_ptr<Lane> lane, StepTimes* times);
  /// Returns when the outputs are where they belong; the lane's arena still holds what the passage left there. Throws
  /// CudaError.
  std::unique_ptr<Lane> finish();

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
  struct Streams {
    cudaStream_t up, early, kernels, down;
  };

  size_t secret_bytes() const;
  void input(Name name, const void* from, size_t record_bytes, size_t first, size_t records, bool secret);
  void output(Name name, uint8_t* to, size_t record_bytes, size_t first, size_t records, bool secret);
  void place();
  void stage();
  void queue(Conveyor* conveyor);
  void upload();
  void steps(Conveyor* conveyor);
  void launch(size_t first_step, size_t end_step, cudaStream_t stream);
  void queue_steps(size_t first_step, size_t end_step, cudaStream_t stream);
  void arrive();
  void download(std::initializer_list<Name> names);
  void unstage();
  void wipe_staging();
  void abandon();
  void mark(size_t event, cudaStream_t stream);
  void collect();

  Device& device_;
  const DeviceOperation& operation_;
  const ModuleBatch& batch_;
  const size_t first_, count_;
  std::unique_ptr<Lane> lane_;
  Streams streams_{};
  bool queued_ = false;
  StepTimes* times_ = nullptr;
  std::array<Array, kArrays> arrays_;
  std::byte *seed_device_ = nullptr, *seed_staged_ = nullptr, *workspace_ = nullptr;
  DeviceBatch device_batch_;
};

}  // namespace polykem::cuda
