// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "engine/batcher/estimates.hpp"

namespace polykem {

/// Keeps work from an executor that fails. Open: nothing goes there until a pause is over. Then one probe may run
/// (half-open), whose result closes it or makes the pause twice as long. Not thread-safe.
class Breaker {
 public:
  enum class State { kClosed, kOpen, kHalfOpen };

  static constexpr unsigned kFailuresInARow = 3;
  /// On a busy machine a healthy device is late a few times in a row, when its thread waits for a CPU; a device that is
  /// too slow always is. Until it opens, each time costs some operations a deadline.
  static constexpr unsigned kLateInARow = 8;
  static constexpr unsigned kGoodAgain = 100;  ///< after so many batches the next pause is short again
  static constexpr Clock::duration kFirstPause = std::chrono::milliseconds(100);
  static constexpr Clock::duration kLongestPause = std::chrono::seconds(30);

  explicit Breaker(Clock::duration longest_pause = kLongestPause) : longest_pause_(longest_pause) {}

  State state() const { return state_; }
  bool closed() const { return state_ == State::kClosed; }
  /// Why it opened last, static storage; "" if it never did.
  const char* reason() const { return reason_; }
  uint64_t opened() const { return opened_; }
  Clock::time_point pause_ends() const { return pause_ends_; }

  void succeeded() {
    failures_ = late_ = 0;
    if (++successes_ >= kGoodAgain) pause_ = kFirstPause;
  }
  void failed(const char* reason, Clock::time_point now) {
    successes_ = 0;
    if (++failures_ >= kFailuresInARow) open(reason, now);
  }
  /// A batch passed its deadline; it may still succeed. Those that were under way when another was late count with it.
  void late(const char* reason, Clock::time_point started, Clock::time_point now) {
    if (late_ > 0 && started <= late_at_) return;
    late_at_ = now;
    if (++late_ >= kLateInARow) open(reason, now);
  }
  void open(const char* reason, Clock::time_point now) {
    if (state_ == State::kOpen) return;
    state_ = State::kOpen;
    reason_ = reason;
    successes_ = failures_ = late_ = 0;
    ++opened_;
    pause_ends_ = now + pause_;
    pause_ = std::min(2 * pause_, longest_pause_);
  }
  /// The pause is over and a probe starts.
  void probe() { state_ = State::kHalfOpen; }
  void close() {
    state_ = State::kClosed;
    successes_ = failures_ = late_ = 0;
  }

 private:
  State state_ = State::kClosed;
  unsigned failures_ = 0, successes_ = 0, late_ = 0;
  uint64_t opened_ = 0;
  Clock::duration longest_pause_;
  Clock::duration pause_ = kFirstPause;
  Clock::time_point pause_ends_{}, late_at_{};
  const char* reason_ = "";
};

}  // namespace polykem
