// SPDX-License-Identifier: Apache-2.0
// The state of an executor: its batches in flight, its speed, and whether it can be relied on.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engine/batcher/batch.hpp"
#include "engine/batcher/queues.hpp"

namespace polykem {

/// An executor other than the CPU computes an operation only after its probes have matched the CPU's results, and while
/// its breaker is closed. The breaker opens after failures, wrong results and missed deadlines. Not thread-safe.
class ExecutorState {
 public:
  /// forced: once it is proven, the CPU computes only what it failed to compute.
  ExecutorState(std::unique_ptr<Executor> executor, size_t queues, bool forced);

  Executor& executor() const { return *executor_; }
  bool cpu() const { return executor_->kind() == Executor::Kind::kCpu; }
  bool forced() const { return forced_; }
  bool takes(const TicketQueue& queue) const {
    return breaker_.closed() && known_[queue.index].proof == Proof::kProven;
  }
  bool cannot_run(const TicketQueue& queue) const { return known_[queue.index].proof == Proof::kUnfit; }
  const ServiceTime& service(const TicketQueue& queue) const { return known_[queue.index].service; }
  ExecutorHealth health() const;

  std::span<InFlightBatch* const> in_flight() const { return in_flight_; }
  bool idle() const;
  /// True if every batch in flight has missed its deadline.
  bool all_late() const;
  /// The time that the next batch would wait for those in flight.
  Clock::duration busy_for(Clock::time_point now) const;

  /// Records that the batch, which has its tickets and width, has started. expected: how long it takes once earlier
  /// batches have ended.
  void started(InFlightBatch& batch, TicketQueue& queue, Clock::duration expected, Clock::time_point now);
  /// Records that a batch has ended. ran: the executor computed it; right: no result was wrong. Returns false if the
  /// CPU must compute it again.
  bool ended(InFlightBatch& batch, bool ran, bool right, Clock::time_point now);
  /// Updates the batch's pace, and moves `next` forward to the batch's next deadline if that is earlier.
  void check_deadline(InFlightBatch& batch, Clock::duration deadline, Clock::time_point now, Clock::time_point& next);

  /// True if the queue could use the executor after a probe that has not been requested. waits: operations are waiting.
  bool lacks_probe(const TicketQueue& queue, bool waits, Clock::time_point now) const;
  void ask_for_probe(const TicketQueue& queue);
  /// Returns the index of the queue whose probe is due, and counts it as in flight until it starts or is cancelled.
  /// If a probe is due later, moves `next` forward to that time if it is earlier.
  std::optional<uint32_t> begin_probe(Clock::time_point now, Clock::time_point& next);
  /// available: the executor is available, but there is no memory for the probe.
  void cancel_probe(const TicketQueue& queue, bool available, Clock::time_point now);

 private:
  enum class Proof {
    kNone,     ///< no probe was requested
    kWanted,   ///< requested
    kProbing,  ///< the probe runs
    kProven,
    kUnfit,  ///< the executor lacks the operation
  };
  /// The state of one queue's operation on this executor.
  struct Known {
    Proof proof = Proof::kNone;
    unsigned passed = 0;  ///< successful probes; the first one warms up, the second one is measured
    ServiceTime service;
    Clock::time_point measured{};
  };

  void probe_ended(InFlightBatch& batch, bool passed, Clock::duration took, Clock::time_point now);

  std::unique_ptr<Executor> executor_;
  bool forced_;
  Breaker breaker_;
  std::vector<Known> known_;               ///< by TicketQueue::index
  std::vector<InFlightBatch*> in_flight_;  ///< has capacity for all batches that the executor takes
  bool probe_comes_ = false;               ///< a probe counts as in flight before it starts
  uint32_t last_queue_ = 0;                ///< the queue that probes a half-open breaker
  bool asked_for_ = false;                 ///< a queue would have used it while its breaker was open
  Clock::time_point ready_at_{}, last_finished_{};
};

}  // namespace polykem
