// SPDX-License-Identifier: Apache-2.0
// The module's devices: streams, memory and staging, lent to one batch at a time.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "engine/cuda/module.hpp"

namespace polykem::cuda {

/// A CUDA call that failed: the driver's code and words.
struct CudaError {
  cudaError_t code;
  std::string text;
};

/// Throws CudaError if `code` is an error. `what`: what was being done, for the user.
void check(cudaError_t code, const char* what);

/// Faults that tests ask for: fail_if_due() throws `as` when one of its kind is due.
void inject(Fault fault, int after);
void fail_if_due(Fault fault, cudaError_t as, const char* what);

/// Where an array lies.
struct Place {
  enum class Kind { pageable, pinned, device };
  Kind kind = Kind::pageable;
  int ordinal = -1;  ///< of the device
};
Place place_of(const void* pointer);

/// Device memory that grows; what it held is lost when it does.
class DeviceMemory {
 public:
  ~DeviceMemory() { release(); }
  void reserve(size_t bytes);
  void release() noexcept;
  std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
  size_t size_ = 0;
};

/// Pinned host memory that grows and is zeroised before it is freed.
class PinnedMemory {
 public:
  ~PinnedMemory() { release(); }
  void reserve(size_t bytes);
  void release() noexcept;
  /// Overwrites everything that was handed out.
  void wipe() noexcept;
  std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
  size_t size_ = 0;
};

/// What one batch needs to run: a stream of its own, an arena, staging.
struct Lane {
  Lane();
  ~Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  /// At least `count` events.
  void reserve_events(size_t count);

  cudaStream_t stream = nullptr;
  cudaEvent_t done = nullptr;  ///< the batch's outputs are with the host
  DeviceMemory arena;
  PinnedMemory staging;
  std::vector<cudaEvent_t> events;
};

/// The end of one batch's kernels.
struct Turn {
  Turn() { check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "creating an event"); }
  ~Turn() { (void)cudaEventDestroy(event); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  cudaEvent_t event;
};

/// One GPU. Thread-safe.
class Device {
 public:
  static constexpr size_t kLanes = 8;  ///< batches in flight: copies both ways, kernels, and the host's part overlap

  static constexpr size_t kTurns = 4;  ///< batches whose kernels may overlap

  explicit Device(int ordinal);

  int ordinal() const { return ordinal_; }
  const DeviceInfo& info() const { return info_; }
  int in_flight() const { return in_flight_.load(std::memory_order_relaxed); }
  bool lost() const { return lost_.load(std::memory_order_relaxed); }
  void mark_lost() { lost_.store(true, std::memory_order_relaxed); }

  /// Makes the device current for this thread and lends a lane; waits while all are in use.
  std::unique_ptr<Lane> take();
  void give_back(std::unique_ptr<Lane> lane);
  /// Calls queue_kernels(), which queues on the lane's stream, so that the kernels of kTurns lanes at most overlap.
  /// Batches then finish in turn and their copies overlap with the kernels of the next; all at once would finish
  /// together.
  template <class F>
  void in_turn(Lane& lane, F&& queue_kernels) {
    const std::lock_guard lock(turn_mutex_);
    if (turns_.size() == kTurns) {
      check(cudaStreamWaitEvent(lane.stream, turns_.front()->event, 0), "waiting in turn");
      turns_.pop_front();
    }
    queue_kernels();
    auto turn = std::make_unique<Turn>();
    check(cudaEventRecord(turn->event, lane.stream), "recording an event");
    turns_.push_back(std::move(turn));
  }
  /// Frees the memory of lanes that wait, for a batch that found too little.
  void trim();

  /// Bytes one lane may hold.
  size_t lane_budget(size_t budget) const;

 private:
  const int ordinal_;
  DeviceInfo info_{};
  std::atomic<int> in_flight_{0};
  std::atomic<bool> lost_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Lane>> idle_;
  size_t lent_ = 0;
  std::mutex turn_mutex_;
  std::deque<std::unique_ptr<Turn>> turns_;
};

/// All usable GPUs, or why there are none.
class DeviceManager {
 public:
  static DeviceManager& instance();

  const std::vector<std::unique_ptr<Device>>& devices() const { return devices_; }
  const std::string& problem() const { return problem_; }
  /// The one with the fewest batches in flight; nullptr if all are lost.
  Device* choose();
  /// The one of that ordinal; nullptr if it is lost or none of ours.
  Device* find(int ordinal);

  std::atomic<size_t> budget{0};

 private:
  DeviceManager();

  std::vector<std::unique_ptr<Device>> devices_;
  std::string problem_;
};

}  // namespace polykem::cuda
