// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>

#include "engine/accelerator.hpp"
#include "engine/chunk.hpp"
#include "engine/profile.hpp"
#include "engine/request.hpp"

namespace polykem {

/// The backend and the device that compute a batch.
struct Route {
  const SchemeBackend* backend = nullptr;   ///< nullptr: no backend can compute it here
  Accelerator* accelerator = nullptr;       ///< the backend's accelerator; nullptr: the CPU
  Fields on_accelerator = 0;                ///< arrays of the batch in the accelerator's memory
  const SchemeBackend* fallback = nullptr;  ///< computes what the accelerator failed to; nullptr: none
};

/// A batch that is being computed. Threads claim its chunks until none is left; the last thread to finish completes the
/// job.
class Job {
 public:
  using Done = std::function<void(Status)>;

  Job(const Request& request, const Route& route, size_t chunk_items, Done done);

  size_t chunks() const { return (records_.count + chunk_items_ - 1) / chunk_items_; }
  /// True once every chunk has been claimed.
  bool exhausted() const { return next_.load(std::memory_order_relaxed) >= records_.count; }
  /// Claims and computes chunks until none is left.
  void work(WorkerPool& workers, Profile& profile) noexcept;

  /// Ends a job that was not started: sets outputs and item statuses as for a failed batch, and returns `failure`.
  Status refuse(Status failure) const;

  bool finished() const { return finished_.load(std::memory_order_acquire); }
  /// The batch's status; meaningful once finished.
  Status status() const { return static_cast<Status>(status_.load(std::memory_order_acquire)); }
  /// Waits and returns the status. Status::kArgument where it would wait forever: in the job's own callback, and in a
  /// forked child of the process that submitted it.
  Status wait();

 private:
  Status compute(size_t first, size_t count, Worker& worker, Profile& profile);
  Status compute_on_cpu(const BatchView& items, Worker& worker, Profile* profile);
  void fail(Status status);
  void complete() noexcept;

  const ChunkShape shape_;
  const BatchView records_;
  const RecordBytes bytes_;
  const Route route_;
  const size_t chunk_items_;
  const Done done_;
  ZeroizeStack* const zeroize_stack_;
  const uint64_t process_;  ///< the process that submitted it
  std::atomic<size_t> next_{0};
  std::atomic<size_t> items_left_;
  std::atomic<int> status_{0};
  std::atomic<bool> finished_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
};

/// Ends a batch that failed as a whole: zeroes every output and sets every item's status.
void fail_batch(const BatchView& records, const RecordBytes& bytes, const Route& route, Status status) noexcept;

/// The number of chunks that the CPU computed because an accelerator failed, since the process began.
size_t chunk_fallbacks();

}  // namespace polykem
