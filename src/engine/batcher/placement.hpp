// SPDX-License-Identifier: Apache-2.0
// Decides which executor computes waiting operations, and how many at once.
#pragma once

#include <optional>
#include <span>

#include "engine/batcher/executor_state.hpp"

namespace polykem {

/// The thread that adds an operation, in terms of the arguments of Batcher::add.
struct Caller {
  Clock::duration longest_here;
  bool waits;
};

/// Decisions from the state of queues, executors and estimates at one moment. Changes nothing.
struct Placement {
  const BatcherConfig& config;
  unsigned threads;                          ///< the engine's threads
  std::span<const ExecutorState> executors;  ///< the CPU is the first
  size_t in_flight;                          ///< operations in flight
  const Load& load;                          ///< the load if callers' threads computed all operations
  Clock::time_point now;

  /// False if the CPU leaves the queue's operations to another executor, however long they take.
  bool caller_may_compute(const TicketQueue& queue) const;
  /// True if the caller's thread may compute the operation, its cost is known, and this is faster than queueing.
  /// own_load: the load of that thread if it computed all operations that it adds.
  bool caller_is_sooner(const TicketQueue& queue, Caller caller, double own_load) const;
  /// The executor for the queue's next batch; none if every executor that could compute it is busy.
  std::optional<size_t> choose_executor(const TicketQueue& queue) const;
  /// The number of items that a batch on the executor may have now; 0: it must wait for a batch in flight.
  size_t items_allowed(const ExecutorState& executor, const TicketQueue& queue) const;
  /// The time that a batch of `items` items takes on the executor, without earlier batches.
  Clock::duration service_of(const ExecutorState& executor, const TicketQueue& queue, size_t items) const;
  /// The number of threads that compute a batch of `items` items on the CPU.
  unsigned cpu_width(const TicketQueue& queue, size_t items) const;
  /// True if the CPU computes what another executor could, because too much is in flight.
  bool spills(const TicketQueue& queue) const;
  /// The computing time of one operation, over all executors.
  Clock::duration cost(const TicketQueue& queue) const;

 private:
  bool above_high_water() const { return in_flight >= config.high_water; }
  bool is_loaded() const;
  bool cheaper(const ExecutorState& executor, const TicketQueue& queue) const;
};

}  // namespace polykem
