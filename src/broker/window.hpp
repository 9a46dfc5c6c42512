// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/eventfd.h>

#include <atomic>
#include <cstdint>

#include "broker/fd.hpp"

namespace polykem::broker {

/// Limits the computing time of all operations in flight. Operations beyond the limit stay in the clients' rings, where
/// their order can still change. Thread-safe; only one thread asks for room.
class Window {
 public:
  explicit Window(uint64_t limit_ns) : limit_ns_(limit_ns), room_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

  /// A descriptor that becomes readable when there is room again after has_room() returned false.
  int room() const { return room_.get(); }
  void read_room() {
    uint64_t count = 0;
    (void)!::read(room_.get(), &count, sizeof count);
  }
  bool has_room() {
    if (in_flight_ns_ < limit_ns_) return true;
    wanted_ = true;
    return in_flight_ns_ < limit_ns_;
  }
  void begin(uint64_t ns) { in_flight_ns_ += ns; }
  void end(uint64_t ns) {
    if ((in_flight_ns_ -= ns) >= limit_ns_ || !wanted_ || !wanted_.exchange(false)) return;
    const uint64_t one = 1;
    (void)!::write(room_.get(), &one, sizeof one);
  }

 private:
  const uint64_t limit_ns_;
  const Fd room_;
  std::atomic<uint64_t> in_flight_ns_{0};
  std::atomic<bool> wanted_{false};
};

}  // namespace polykem::broker
