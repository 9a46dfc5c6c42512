// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/job.hpp"

namespace polykem {

/// Threads that compute jobs, oldest first, all threads on the same job.
class ThreadPool {
 public:
  /// Starts `threads` threads, or as many of them as the system allows.
  ThreadPool(unsigned threads, WorkerPool& workers, Profile& profile);
  ~ThreadPool() { finish(); }

  /// Finishes the submitted jobs, and those that their callbacks submit, and ends the threads.
  void finish();
  /// The number of threads that were started; if it is 0, nothing may be submitted.
  size_t size() const { return threads_.size(); }
  /// True on a thread of this pool, for example in the callback of a job.
  bool is_own_thread() const { return current_ == this; }
  /// Throws std::bad_alloc; the job is then not submitted.
  void submit(std::shared_ptr<Job> job);

 private:
  static thread_local const ThreadPool* current_;

  void loop();
  std::shared_ptr<Job> next_job();

  WorkerPool& workers_;
  Profile& profile_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::shared_ptr<Job>> queue_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace polykem
