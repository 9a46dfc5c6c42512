// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "engine/batcher/estimates.hpp"

namespace polykem {

/// A circuit breaker: keeps work from a failing executor. While it is open, the executor gets nothing until a pause is
/// over; then one probe runs (half-open), which closes the breaker or doubles the pause. Not thread-safe.
class Breaker {
 public:
  enum class State { kClosed, kOpen, kHalfOpen };

  static constexpr unsigned kFailuresInARow = 3;
  /// On a busy machine a healthy device may be late a few times in a row because its thread waits for a CPU; a device
  /// that is too slow is late always. Until the breaker opens, each late batch costs some operations a deadline.
  static constexpr unsigned kLateInARow = 8;
  /// After this many batches without a failure, the next pause is kFirstPause.
  static constexpr unsigned kSuccessesToForget = 100;
  static constexpr Clock::duration kFirstPause = std::chrono::milliseconds(100);
  static constexpr Clock::duration kLongestPause = std::chrono::seconds(30);

  explicit Breaker(Clock::duration longest_pause = kLongestPause) : longest_pause_(longest_pause) {}

  State state() const { return state_; }
  bool closed() const { return state_ == State::kClosed; }
  /// The reason why it last opened, static storage; "" if it never did.
  const char* reason() const { return reason_; }
  uint64_t opened() const { return opened_; }
  Clock::time_point pause_ends() const { return pause_ends_; }

  void succeeded() {
    failures_ = late_ = 0;
    if (++successes_ >= kSuccessesToForget) pause_ = kFirstPause;
  }
  void failed(const char* reason, Clock::time_point now) {
    successes_ = 0;
    if (++failures_ >= kFailuresInARow) open(reason, now);
  }
  /// A batch missed its deadline; it may still succeed. Batches in flight at the same time count as one.
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
  /// A probe starts, after the pause.
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
