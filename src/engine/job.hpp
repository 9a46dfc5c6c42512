// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>

#include "engine/profile.hpp"
#include "engine/request.hpp"
#include "engine/worker.hpp"

namespace polykem {

/// A batch under way: threads claim its chunks until none is left; the last to finish completes it.
class Job {
 public:
  using Done = std::function<void(Status)>;

  Job(const Request& request, const SchemeBackend& backend, size_t chunk, Done done);

  size_t chunks() const { return (request_.count + chunk_ - 1) / chunk_; }
  /// True when every chunk has been claimed.
  bool exhausted() const { return next_.load(std::memory_order_relaxed) >= request_.count; }
  /// Claims and computes chunks until none is left.
  void work(WorkerPool& workers, Profile& profile);

  bool finished() const { return finished_.load(std::memory_order_acquire); }
  /// The batch's status; meaningful once finished.
  Status status() const { return static_cast<Status>(status_.load(std::memory_order_acquire)); }
  Status wait();

 private:
  Status compute(size_t first, size_t count, Worker& worker, Profile& profile);
  void fail(Status status);
  void complete();

  const Request request_;
  const SchemeBackend& backend_;
  const size_t chunk_;
  const Done done_;
  std::atomic<size_t> next_{0};
  std::atomic<size_t> items_left_;
  std::atomic<int> status_{0};
  std::atomic<bool> finished_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace polykem
