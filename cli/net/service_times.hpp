// SPDX-License-Identifier: Apache-2.0
// The time that the library takes per item of each operation, measured on finished batches.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>

#include <polykem/polykem.h>

namespace polykem::cli::net {

class ServiceTimes {
 public:
  using Clock = std::chrono::steady_clock;

  /** Records that a batch of items >= 1 was submitted and finished at these times. Batches that overlap share the
   * library: the service time of the later one counts from the end of the earlier one. */
  void add(polykem_op op, std::size_t items, Clock::time_point submitted, Clock::time_point finished);

  /** Time that `items` items take; std::nullopt as long as no batch of `op` has finished. */
  std::optional<std::chrono::nanoseconds> of(polykem_op op, std::size_t items) const;
  /** Items, at least 1, that take no more than `time`; std::nullopt as long as no batch of `op` has finished. */
  std::optional<std::size_t> items_in(polykem_op op, std::chrono::nanoseconds time) const;

 private:
  std::array<std::optional<double>, 3>
      item_ns_;  // by operation: a mean in which each new value halves the weight of the old ones
  Clock::time_point last_finished_{};
};

}  // namespace polykem::cli::net
