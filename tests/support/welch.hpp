// SPDX-License-Identifier: Apache-2.0
// Welch's t-test: whether the means of two classes of measurements differ.
#pragma once

#include <cmath>

namespace polykem::test {

/// The mean of two or more values and the error of it, by Welford's method, which keeps no values.
struct RunningMean {
  double count = 0, mean = 0, squares = 0;  ///< squares: the sum of those of the deviations from the mean

  void add(double value) {
    const double before = value - mean;
    mean += before / ++count;
    squares += before * (value - mean);
  }
  double variance_of_mean() const { return squares / (count - 1) / count; }
};

/// Returns the standard error of the difference of two means.
inline double error_of_difference(const RunningMean& a, const RunningMean& b) {
  return std::sqrt(a.variance_of_mean() + b.variance_of_mean());
}

/// Returns |t|.
inline double welch_t(const RunningMean& a, const RunningMean& b) {
  const double difference = std::abs(a.mean - b.mean);
  return difference == 0 ? 0 : difference / error_of_difference(a, b);  // constants have no error
}

}  // namespace polykem::test
