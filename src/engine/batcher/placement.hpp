// SPDX-License-Identifier: Apache-2.0
// Who computes what waits, and how much of it at once.
#pragma once

#include <optional>
#include <span>

#include "engine/batcher/executor_state.hpp"

namespace polykem {

/// What the thread that hands an operation in may compute itself, as in Batcher::add.
struct Caller {
  Clock::duration longest_here;
  bool waits;
};

/// Decisions from queues, executors and estimates as they are at one moment. Changes nothing.
struct Placement {
  const BatcherConfig& config;
  unsigned threads;                          ///< of the engine
  std::span<const ExecutorState> executors;  ///< the CPU's is the first
  size_t in_flight;                          ///< operations
  const Load& load;                          ///< by all operations, as if their callers' threads computed them
  Clock::time_point now;

  /// False if operations of the queue are left to executors however long that takes.
  bool caller_may_compute(const TicketQueue& queue) const;
  /// Whether computing on the caller's thread is faster than queueing, if it may and the time is known. own_load: what
  /// that thread hands in, as if it computed all of it.
  bool caller_is_sooner(const TicketQueue& queue, Caller caller, double own_load) const;
  /// The executor of the queue's next batch; none: every executor that could compute it is busy.
  std::optional<size_t> choose_executor(const TicketQueue& queue) const;
  /// How many items a batch on the executor may have now; 0: it has to wait for one in flight.
  size_t items_allowed(const ExecutorState& executor, const TicketQueue& queue) const;
  /// How long a batch of so many items takes on the executor, without those before it.
  Clock::duration service_of(const ExecutorState& executor, const TicketQueue& queue, size_t items) const;
  /// The threads that compute a batch of so many items on the CPU.
  unsigned cpu_width(const TicketQueue& queue, size_t items) const;
  /// The CPU computes what another executor could, because too much is in flight.
  bool spills(const TicketQueue& queue) const;
  /// The time that an operation takes of all that computes here.
  Clock::duration cost(const TicketQueue& queue) const;

 private:
  bool above_high_water() const { return in_flight >= config.high_water; }
  bool is_loaded() const;
  bool cheaper(const ExecutorState& executor, const TicketQueue& queue) const;
};

}  // namespace polykem
