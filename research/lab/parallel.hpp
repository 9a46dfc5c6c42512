// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

#include "core/usable_cpus.hpp"

namespace polykem::lab {

/// Calls f(i) for i < count, on all CPUs.
template <class F>
void in_parallel(size_t count, F&& f) {
  constexpr size_t kAtATime = 8;
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t first = next.fetch_add(kAtATime); first < count; first = next.fetch_add(kAtATime)) {
      for (size_t i = first; i < std::min(count, first + kAtATime); ++i)
        f(i);
    }
  };
  const size_t shares = (count + kAtATime - 1) / kAtATime;
  std::vector<std::thread> threads;
  for (size_t i = 1; i < std::min(shares, size_t{usable_cpus().count}); ++i)
    threads.emplace_back(work);
  work();
  for (std::thread& thread : threads)
    thread.join();
}

}  // namespace polykem::lab
