// SPDX-License-Identifier: Apache-2.0
// The module's devices: their streams, and the resources that are lent to one part of a batch at a time.
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

#include "accelerators/cuda/module/exit_gate.hpp"
#include "accelerators/cuda/module/module.hpp"
#include "accelerators/cuda/module/replay.hpp"

namespace polykem::cuda {

/// A CUDA call that failed: the driver's code and words.
struct CudaError {
  cudaError_t code;
  std::string text;
};

/// Throws CudaError if `code` is an error. `what` tells the user what was being done.
void check(cudaError_t code, const char* what);

/// Faults that tests inject: fail_if_due() throws `as` when a fault of its kind is due.
void inject(Fault fault, int after);
void fail_if_due(Fault fault, cudaError_t as, const char* what);

/// A call of the driver by the caller's thread. While it exists, the thread may allocate memory even if a thread of the
/// application captures a stream in CUDA's global mode, which forbids that to all others. Afterwards the mode and the
/// thread's current device are restored.
class CallersState {
 public:
  CallersState() {
    if (!allowed()) return;
    device_known_ = cudaGetDevice(&device_) == cudaSuccess;
    relaxed_ = cudaThreadExchangeStreamCaptureMode(&mode_) == cudaSuccess;
  }
  ~CallersState() {
    if (device_known_) (void)cudaSetDevice(device_);
    if (relaxed_) (void)cudaThreadExchangeStreamCaptureMode(&mode_);
  }
  CallersState(const CallersState&) = delete;
  CallersState& operator=(const CallersState&) = delete;

  /// False if the process is ending, so that the driver must not be called.
  bool allowed() const { return call_.allowed(); }

 private:
  const DriverCall call_;
  int device_ = 0;
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
  bool device_known_ = false, relaxed_ = false;
};

/// The kind of memory of an array, and its device.
struct MemoryLocation {
  MemoryKind kind = MemoryKind::kPageable;
  int ordinal = -1;
};
MemoryLocation location_of(const void* pointer);

/// Device memory that can grow; growing loses the contents, and frees them as they are.
class DeviceMemory {
 public:
  ~DeviceMemory() { release(); }
  void reserve(size_t bytes);
  void release() noexcept;
  std::byte* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  std::byte* data_ = nullptr;
  size_t size_ = 0;
};

/// Pinned host memory that can grow and is zeroized before it is freed.
class PinnedMemory {
 public:
  ~PinnedMemory() { release(); }
  void reserve(size_t bytes);
  void release() noexcept;
  /// Overwrites all memory that was allocated from it.
  void zeroize() noexcept;
  std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
  size_t size_ = 0;
};

/// An event that measures no time.
class Event {
 public:
  Event();
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  operator cudaEvent_t() const { return event_; }  // NOLINT(google-explicit-constructor): it is one

 private:
  cudaEvent_t event_ = nullptr;
};

/// A stream that does not synchronise with the legacy default stream, which would break an application's capture.
class Stream {
 public:
  enum class Priority { kDefault, kLow, kHigh };

  explicit Stream(Priority priority = Priority::kDefault);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator cudaStream_t() const { return stream_; }  // NOLINT(google-explicit-constructor): it is one

 private:
  cudaStream_t stream_ = nullptr;
};

/// The resources that one part of a batch needs: device memory, pinned staging memory, events, and streams for a part
/// that uses none that are shared.
struct PartResources {
  PartResources() = default;
  ~PartResources();
  PartResources(const PartResources&) = delete;
  PartResources& operator=(const PartResources&) = delete;

  const Stream stream{Stream::Priority::kHigh};
  const Stream filling{Stream::Priority::kLow};  ///< for the steps that fill the device
  const Event begun;                             ///< the early steps have ended
  const Event late;                              ///< the late steps come next
  const Event uploaded;                          ///< the part's inputs are on the device
  const Event computed;                          ///< the last step has ended
  const Event done;                              ///< the part's outputs are on the host
  const Event zeroized;                          ///< nothing secret is left in the arena
  DeviceMemory arena;
  PinnedMemory staging;
  Replay replay;
  size_t dirty = 0;                ///< bytes at the arena's beginning in which parts left secrets
  bool zeroizing = false;          ///< the zeroization is queued and may not have finished
  std::vector<cudaEvent_t> clock;  ///< events that measure time
};

/// The streams that all users of a device share. Parts take turns on the bus and on the device, for inputs, kernels and
/// outputs, because all would finish late if several shared them. Only the early steps of a part run beside the late
/// steps of the previous part. Parts with a step that fills the device use only `zeroize` of these streams.
struct SharedStreams {
  const Stream up, early, kernels, down, zeroize;
  const Stream keys;  ///< for copies and zeroizations that belong to no part
  const Event late;   ///< the last part has reached its late steps
  std::mutex mutex;   ///< held while a part queues its work, so that all streams have the parts in the same order
};

/// One GPU. Thread-safe.
class Device {
 public:
  static constexpr size_t kMaxParts = 16;  ///< parts in flight, of all batches

  explicit Device(int ordinal);

  int ordinal() const { return ordinal_; }
  const DeviceInfo& info() const { return info_; }
  int in_flight() const { return in_flight_.load(std::memory_order_relaxed); }
  /// True if the device has failed permanently.
  bool lost() const { return lost_.load(std::memory_order_relaxed); }
  void batch_succeeded() { failures_.store(0, std::memory_order_relaxed); }
  /// Checks a device after a failure. It is lost if it cannot zeroize a little memory, or if too many batches in a row
  /// failed.
  void batch_failed() noexcept;

  /// Makes the device current for this thread.
  void make_current() const;
  /// Lends the resources of a part and makes the device current. If kMaxParts are lent, waits, or returns nullptr if
  /// `wait` is false: a batch that has resources must not wait for more.
  std::unique_ptr<PartResources> take(bool wait);
  /// Takes resources back, whose parts have all finished, and queues the zeroization of what they left there. Resources
  /// that cannot be zeroized are freed, so that their memory is not reused while a zeroization may be pending.
  void give_back(std::unique_ptr<PartResources> resources) noexcept;
  /// The shared streams, created by the first call. The device must be current.
  SharedStreams& streams();
  /// Frees the memory of idle resources, for a batch that found too little memory.
  void trim();

  /// The most device memory of one part.
  size_t part_budget(size_t budget) const;

 private:
  bool zeroize(PartResources& resources) noexcept;
  bool works() noexcept;

  const int ordinal_;
  DeviceInfo info_{};
  std::atomic<int> in_flight_{0};
  std::atomic<int> failures_{0};  ///< batches that failed since the last one that did not
  std::atomic<bool> lost_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<PartResources>> idle_;  ///< with capacity for kMaxParts
  size_t lent_ = 0;
  std::unique_ptr<SharedStreams> streams_;
};

/// All usable GPUs, or why there are none.
class DeviceManager {
 public:
  static DeviceManager& instance();

  const std::vector<std::unique_ptr<Device>>& devices() const { return devices_; }
  const std::string& problem() const { return problem_; }
  /// The device with the fewest parts in flight; nullptr if all are lost.
  Device* choose();
  /// The device with that ordinal, even if it is lost; nullptr if it was never usable.
  Device* find(int ordinal);

  std::atomic<size_t> budget{0};

 private:
  DeviceManager();
  /// Returns the reason why the device cannot be used, "" if it can be.
  static std::string unusable(const Device& device);

  std::vector<std::unique_ptr<Device>> devices_;
  std::string problem_;
};

}  // namespace polykem::cuda
