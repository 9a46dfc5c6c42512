// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "accelerators/cuda/module/part.hpp"

namespace polykem::cuda {

/// Runs a batch in parts of consecutive items, several at a time, on all devices.
class Pipeline {
 public:
  Pipeline(const std::vector<Device*>& devices, const LocatedBatch& batch, StepTimes* times);
  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  /// Runs the batch. Halves the parts whenever memory runs out. Throws CudaError.
  void run();
  /// Reports success to the devices on which parts of the batch have finished.
  void batch_succeeded();
  /// The device whose error run() threw.
  Device& used() const { return *used_; }

 private:
  /// The batch's share of one device. The batch keeps its resources to the end, so that they are zeroized once.
  struct DeviceShare {
    Device* device;
    std::vector<std::unique_ptr<PartResources>> idle;
    size_t held = 0;        ///< resources, idle or in use
    size_t under_way = 0;   ///< parts
    bool finished = false;  ///< at least one part
  };
  struct UnderWay {
    DeviceShare* share;
    std::unique_ptr<Part> part;
  };

  DeviceShare* share_with_resources();
  bool get_resources(DeviceShare& share, bool wait);
  bool start(DeviceShare& share, size_t first, size_t count);
  void finish_oldest();
  void release_resources();
  void make_room();

  const LocatedBatch& batch_;
  StepTimes* const times_;
  const size_t part_items_;
  std::vector<DeviceShare> shares_;
  std::deque<UnderWay> under_way_;
  Device* used_ = nullptr;
};

}  // namespace polykem::cuda
