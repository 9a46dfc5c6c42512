// SPDX-License-Identifier: Apache-2.0
// How long the library takes for an item of each operation, learnt from the batches that it has finished.
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

  /** A batch of items >= 1 was handed over and finished at these times. Batches that overlap share the library: the
   * service time of the later one counts from the end of the earlier one. */
  void add(polykem_op op, std::size_t items, Clock::time_point submitted, Clock::time_point finished);

  /** Time that `items` items take; std::nullopt as long as no batch of `op` has finished. */
  std::optional<std::chrono::nanoseconds> of(polykem_op op, std::size_t items) const;
  /** Items, at least 1, that take no more than `time`; std::nullopt as long as no batch of `op` has finished. */
  std::optional<std::size_t> items_in(polykem_op op, std::chrono::nanoseconds time) const;

 private:
  std::array<std::optional<double>, 3> item_ns_;  // by operation: a mean that halves the weight of the past each time
  Clock::time_point last_finished_{};
};

}  // namespace polykem::cli::net
