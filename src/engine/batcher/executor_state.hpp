// SPDX-License-Identifier: Apache-2.0
// What the batcher knows of an executor: what is in flight there, how long it takes, and whether it may be relied on.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engine/batcher/batch.hpp"
#include "engine/batcher/queues.hpp"

namespace polykem {

/// An executor beside the CPU computes an operation after its probes have matched the CPU's results, and only while the
/// breaker is closed. The breaker opens after failures, wrong results and missed deadlines. Not thread-safe.
class ExecutorState {
 public:
  /// forced: the CPU computes only until it is proven, and what it failed to compute.
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

  std::span<BatchSlot* const> in_flight() const { return in_flight_; }
  bool idle() const;
  /// Every batch there has passed its deadline.
  bool all_late() const;
  /// How long the next batch waits for those in flight.
  Clock::duration busy_for(Clock::time_point now) const;

  /// Records that a batch has started; its tickets and width are set. `expected`: how long it runs after the batches
  /// before it have ended.
  void started(BatchSlot& slot, TicketQueue& queue, Clock::duration expected, Clock::time_point now);
  /// Records that a batch has ended. ran: the executor computed it; right: no result was wrong. False if the CPU must
  /// compute it again.
  bool ended(BatchSlot& slot, bool ran, bool right, Clock::time_point now);
  /// Sets the batch's pace, and `next` to its next deadline if that comes sooner.
  void check_deadline(BatchSlot& slot, Clock::duration deadline, Clock::time_point now, Clock::time_point& next);

  /// True if the queue could use the executor after a probe for which nobody has asked. waits: its operations wait.
  bool lacks_probe(const TicketQueue& queue, bool waits, Clock::time_point now) const;
  void ask_for_probe(const TicketQueue& queue);
  /// The index of the queue of which a probe comes now; a place is kept for it until it starts or is cancelled. If one
  /// comes later, sets `next` to that time if that is sooner.
  std::optional<uint32_t> begin_probe(Clock::time_point now, Clock::time_point& next);
  /// available: the executor is, but there is no memory for the probe.
  void cancel_probe(const TicketQueue& queue, bool available, Clock::time_point now);

 private:
  enum class Proof {
    kNone,     ///< nobody has asked for it
    kWanted,   ///< a probe comes before the first batch
    kProbing,  ///< which runs
    kProven,
    kUnfit,  ///< the executor has not the operation
  };
  /// What is known of one queue's operation on this executor.
  struct Known {
    Proof proof = Proof::kNone;
    unsigned passed = 0;  ///< probes; the first one warms up, the second one is measured
    ServiceTime service;
    Clock::time_point measured{};
  };

  void probe_ended(BatchSlot& slot, bool passed, Clock::duration took, Clock::time_point now);

  std::unique_ptr<Executor> executor_;
  bool forced_;
  Breaker breaker_;
  std::vector<Known> known_;           ///< by queue
  std::vector<BatchSlot*> in_flight_;  ///< batches whose end has not been reported; capacity for all places
  bool probe_comes_ = false;           ///< one of the places is kept for it
  uint32_t last_queue_ = 0;            ///< of which a half-open breaker takes a probe
  bool asked_for_ = false;             ///< somebody would have used it while its breaker was open
  Clock::time_point ready_at_{}, last_finished_{};
};

}  // namespace polykem
