// SPDX-License-Identifier: Apache-2.0
// Whether times of two kinds of calls differ: Welch's t-test, as in dudect [RBV17].
#pragma once

#include <gtest/gtest.h>
#include <x86intrin.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "support/welch.hpp"

namespace polykem::test {

constexpr double kLeak = 10;             ///< from this |t| on, dudect says that the time probably depends on the secret
constexpr double kSmallestLeak = 0.005;  ///< a measurement must find differences from this part of the time on

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

enum class Verdict { kEqual, kDiffer, kTooNoisy };

inline Verdict verdict(const Times& times) {
  if (times.difference() >= kLeak) return Verdict::kDiffer;
  return times.smallest_leak() <= kSmallestLeak ? Verdict::kEqual : Verdict::kTooNoisy;
}

/// Returns on what two of at most three measurements agree; kTooNoisy if no two do.
/// @param measure returns the Times of one measurement
template <class Measure>
Verdict agreed_verdict(const Measure& measure) {
  std::array<int, 3> count{};
  for (int i = 0; i < 3; ++i) {
    const Verdict said = verdict(measure());
    if (++count[static_cast<size_t>(said)] == 2) return said;
  }
  return Verdict::kTooNoisy;
}

/// Expects that two of at most three measurements agree on `expected`. Skips the test where no two agree or where two
/// are too noisy.
/// @param measure returns the Times of one measurement
template <class Measure>
void expect_verdict(Verdict expected, const Measure& measure) {
  const Verdict said = agreed_verdict([&] {
    const Times times = measure();
    std::printf("|t| is %.1f; a difference of %.3f %% of the time would be found\n", times.difference(),
                100 * times.smallest_leak());
    return times;
  });
  if (said == Verdict::kTooNoisy)
    GTEST_SKIP() << "no two of three measurements agree, or two of them would not find a difference of "
                 << 100 * kSmallestLeak << " % of the time. Try again on a quiet machine.";
  EXPECT_TRUE(said == expected) << "the times " << (said == Verdict::kDiffer ? "differ" : "do not differ");
}

template <class Call>
uint64_t cycles(const Call& call) {
  unsigned core;
  _mm_lfence();
  const uint64_t begun = __rdtsc();
  call();
  return __rdtscp(&core) - begun;
}

}  // namespace polykem::test
