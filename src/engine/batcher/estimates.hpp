// SPDX-License-Identifier: Apache-2.0
// The batcher's estimates: how long batches take, and how much work arrives.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>

namespace polykem {

using Clock = std::chrono::steady_clock;

/// The time of batches of one operation on one executor: fixed + items x each, by least squares in which older
/// batches weigh less. Not thread-safe.
class ServiceTime {
 public:
  bool known() const { return known_; }

  void add(size_t items, Clock::duration took) {
    const double weight = known_ ? kWeightOfNewest : 1;
    const auto n = static_cast<double>(items);
    const double t = std::max(nanoseconds(took), 1.0);
    const auto move = [weight](double& mean, double value) { mean += weight * (value - mean); };
    move(n_, n);
    move(t_, t);
    move(nn_, n * n);
    move(nt_, n * t);
    min_time_ = known_ ? std::min(min_time_ * kForgets, t) : t;
    max_items_ = std::max(max_items_ / kForgets, n);
    known_ = true;
  }

  /// The time of a batch; only if known(). At least the time of the shortest recent batch, so that large batches do not
  /// make small ones look cheap.
  Clock::duration of(size_t items) const {
    const double linear = t_ + each() * (static_cast<double>(items) - n_);
    return Clock::duration(std::llround(std::max(linear, min_time_)));
  }
  /// The time of one item in a batch as large as recent ones; only if known().
  Clock::duration share() const { return Clock::duration(std::llround(t_ / n_)); }
  /// The size of recent batches; only if known().
  size_t usual_items() const { return static_cast<size_t>(std::llround(n_)); }
  /// The number of items, at least 1, that take no more than `time`: at most a few, or four times as many as the
  /// largest recent batch, since uneven times of small batches can make an item look free.
  size_t items_in(Clock::duration time) const {
    const double left = nanoseconds(time) - (t_ - each() * n_), max_items = std::max(kFewItems, 4 * max_items_);
    return std::max<size_t>(left > 0 ? static_cast<size_t>(std::min(left / std::max(each(), 1.0), max_items)) : 0, 1);
  }
  /// Like items_in(), but if all batches so far had one size, which says nothing about larger ones, up to twice that
  /// size. Otherwise a device that takes a millisecond for any batch would never get a second item.
  size_t items_to_try(Clock::duration time) const {
    const size_t items = items_in(time);
    return sizes_differ() || t_ > nanoseconds(time) ? items : std::max(items, static_cast<size_t>(2 * n_));
  }

 private:
  static constexpr double kWeightOfNewest = 0.125, kForgets = 1.01, kFewItems = 64;

  static double nanoseconds(Clock::duration time) {
    return static_cast<double>(std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
  }
  bool sizes_differ() const { return nn_ - n_ * n_ >= 0.01 * nn_; }
  double each() const {
    if (!sizes_differ()) return t_ / n_;
    return std::clamp((nt_ - n_ * t_) / (nn_ - n_ * n_), 0.0, t_ / n_);
  }

  bool known_ = false;
  double n_ = 0, t_ = 0, nn_ = 0, nt_ = 0;  ///< means of items, nanoseconds, and their products
  double min_time_ = 0, max_items_ = 0;     ///< shortest time and largest size of recent batches
};

/// The recent load, in CPUs: 1 keeps one CPU busy. Not thread-safe.
class Load {
 public:
  void add(Clock::duration cost, Clock::time_point now) {
    value_ = at(now) + static_cast<double>(cost.count()) / static_cast<double>(kMemory.count());
    last_ = std::max(last_, now);
  }
  double at(Clock::time_point now) const {
    if (now <= last_) return value_;
    return value_ * std::exp(-static_cast<double>((now - last_).count()) / static_cast<double>(kMemory.count()));
  }

 private:
  static constexpr Clock::duration kMemory = std::chrono::milliseconds(20);

  double value_ = 0;
  Clock::time_point last_{};
};

}  // namespace polykem
