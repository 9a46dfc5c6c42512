// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <vector>

namespace peers {

/// Prints the times of an operation.
class Timing {
 public:
  /// seconds: for each operation
  explicit Timing(double seconds) : seconds_(seconds) {}

  /// Calls `call` for that long and prints, tab-separated, the operation and the best and the median milliseconds of
  /// one of the `count` ciphertexts of a call.
  template <class Call>
  void operator()(const char* operation, int count, const Call& call) const {
    call();
    std::vector<double> times;
    for (const double begin = now(); times.size() < 3 || now() - begin < seconds_;) {
      const double start = now();
      call();
      times.push_back(1e3 * (now() - start) / count);
    }
    std::sort(times.begin(), times.end());
    std::printf("%s\t%.4f\t%.4f\n", operation, times.front(), times[times.size() / 2]);
    std::fflush(stdout);
  }

 private:
  /// Returns this process's CPU time: others may use the core in between.
  static double now() {
    timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }

  double seconds_;
};

}  // namespace peers
