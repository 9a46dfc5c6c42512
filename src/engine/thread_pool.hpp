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

/// Threads that compute jobs, oldest first, all threads on the same job. The destructor finishes what was submitted.
class ThreadPool {
 public:
  ThreadPool(unsigned threads, WorkerPool& workers, Profile& profile);
  ~ThreadPool();

  void submit(std::shared_ptr<Job> job);

 private:
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
