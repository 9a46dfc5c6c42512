// SPDX-License-Identifier: Apache-2.0
#include "engine/thread_pool.hpp"

#include <system_error>

#include "core/thread.hpp"

namespace polykem {

thread_local const ThreadPool* ThreadPool::current_ = nullptr;

ThreadPool::ThreadPool(unsigned threads, WorkerPool& workers, Profile& profile) : workers_(workers), profile_(profile) {
  threads_.reserve(threads);
  try {
    for (unsigned i = 0; i < threads; ++i)
      threads_.push_back(start_thread([this] { loop(); }));
  } catch (const std::system_error&) {  // the threads that started do the work
  } catch (const std::bad_alloc&) {
  }
}

void ThreadPool::finish() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (auto& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void ThreadPool::submit(std::shared_ptr<Job> job) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(job));
  }
  wake_.notify_all();
}

/// Waits for and returns the oldest job with unclaimed chunks; nullptr if the pool stops and none is left.
std::shared_ptr<Job> ThreadPool::next_job() {
  std::unique_lock lock(mutex_);
  while (true) {
    while (!queue_.empty() && queue_.front()->exhausted())
      queue_.pop_front();
    if (!queue_.empty()) return queue_.front();
    if (stopping_) return nullptr;
    wake_.wait(lock);
  }
}

void ThreadPool::loop() {
  current_ = this;
  while (const auto job = next_job())
    job->work(workers_, profile_);
}

}  // namespace polykem
