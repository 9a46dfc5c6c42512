// SPDX-License-Identifier: Apache-2.0
// Spreads the items of a batch over threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace polykem::hpke {

/// Calls work(claim) on at most `threads` threads, including the caller's. `work` calls claim(first, last) to get items
/// until that returns false. The first exception is rethrown when all threads have ended.
template <class Work>
void over_threads(unsigned threads, std::size_t count, const Work& work) {
  constexpr std::size_t kItems = 64;  // few enough to balance the threads, enough to make claims cheap
  std::atomic<std::size_t> next{0};
  std::exception_ptr failure;
  std::mutex mutex;
  const auto claim = [&](std::size_t& first, std::size_t& last) {
    first = next.fetch_add(kItems);
    last = std::min(first + kItems, count);
    return first < count;
  };
  const auto guarded = [&] {
    try {
      work(claim);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
      next = count;
    }
  };
  std::vector<std::thread> helpers;
  const std::size_t useful = std::min<std::size_t>(threads, (count + kItems - 1) / kItems);
  try {
    while (helpers.size() + 1 < useful)
      helpers.emplace_back(guarded);
  } catch (const std::exception&) {  // no more threads or memory: those that run do the work
  }
  guarded();
  for (std::thread& helper : helpers)
    helper.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace polykem::hpke
