// SPDX-License-Identifier: Apache-2.0
// Whether times of two kinds of calls differ: Welch's t-test, as in dudect [RBV17].
#pragma once

#include <x86intrin.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/welch.hpp"

namespace polykem::test {

constexpr double kLeak = 10;  ///< from this |t| on, dudect says that the time probably depends on the secret

/// The times of calls of two classes, measured in random order.
class Times {
 public:
  void add(size_t chosen, double time) { of_class_[chosen].push_back(time); }

  /// Returns the smallest difference of means, as a part of the faster half's mean, from which difference() exceeds
  /// kLeak.
  double smallest_leak() const {
    const auto [first, second] = means_up_to(0.5);
    return kLeak * error_of_difference(first, second) / first.mean;
  }

  /// Returns the largest |t| of the times up to several quantiles, since long times are mostly interruptions.
  double difference() const {
    double largest = 0;
    for (const double quantile : {0.5, 0.75, 0.9, 0.99})
      largest = std::max(largest, difference(quantile));
    return largest;
  }

 private:
  std::array<RunningMean, 2> means_up_to(double quantile) const {
    std::vector<double> all = of_class_[0];
    all.insert(all.end(), of_class_[1].begin(), of_class_[1].end());
    std::sort(all.begin(), all.end());
    const double limit = all[static_cast<size_t>(quantile * static_cast<double>(all.size() - 1))];
    std::array<RunningMean, 2> means;
    for (size_t i = 0; i < 2; ++i)
      for (const double time : of_class_[i])
        if (time <= limit) means[i].add(time);
    return means;
  }

  double difference(double quantile) const {
    const auto [first, second] = means_up_to(quantile);
    return welch_t(first, second);
  }

  std::array<std::vector<double>, 2> of_class_;
};

template <class Call>
uint64_t cycles(const Call& call) {
  unsigned core;
  _mm_lfence();
  const uint64_t begun = __rdtsc();
  call();
  return __rdtscp(&core) - begun;
}

}  // namespace polykem::test
