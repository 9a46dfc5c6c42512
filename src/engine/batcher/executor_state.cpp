// SPDX-License-Identifier: Apache-2.0
#include "engine/batcher/executor_state.hpp"

#include <algorithm>

namespace polykem {

namespace {

/// After this time without a batch an executor's speed is measured again, and older measurements are discarded.
constexpr Clock::duration kForgotten = std::chrono::seconds(10);
/// A device may be worthwhile for an operation that takes longer than this on the CPU, even if nothing waits.
constexpr Clock::duration kLongOperation = std::chrono::microseconds(100);
/// A first batch may take much longer, since it loads and allocates.
constexpr Clock::duration kProbeDeadline = std::chrono::seconds(2);
/// A batch counts as stalled after this many deadlines, but not before the time below: on a busy machine a device's
/// thread may wait tens of milliseconds for a CPU.
constexpr int kDeadlinesOfAStall = 10;
constexpr Clock::duration kShortestStall = std::chrono::milliseconds(50);

}  // namespace

ExecutorState::ExecutorState(std::unique_ptr<Executor> executor, size_t queues, bool forced)
    : executor_(std::move(executor)), forced_(forced), breaker_(executor_->longest_pause()), known_(queues) {
  in_flight_.reserve(executor_->max_in_flight());
}

ExecutorHealth ExecutorState::health() const {
  using State = ExecutorHealth::State;
  const auto proven = [](const Known& known) { return known.proof == Proof::kProven; };
  const bool used = cpu() || breaker_.opened() > 0 || std::ranges::any_of(known_, proven);
  const State state = breaker_.closed()                           ? State::kClosed
                      : breaker_.state() == Breaker::State::kOpen ? State::kOpen
                                                                  : State::kHalfOpen;
  return {.name = executor_->name(),
          .kind = executor_->kind(),
          .state = used ? state : State::kUnused,
          .reason = breaker_.reason(),
          .opened = breaker_.opened(),
          .batches = static_cast<unsigned>(in_flight_.size())};
}

bool ExecutorState::idle() const {
  unsigned busy = probe_comes_ ? 1 : 0;
  for (const InFlightBatch* batch : in_flight_)
    busy += batch->width;
  return busy < executor_->max_in_flight();
}

bool ExecutorState::all_late() const {
  return std::ranges::all_of(in_flight_,
                             [](const InFlightBatch* batch) { return batch->pace != InFlightBatch::Pace::kInTime; });
}

Clock::duration ExecutorState::busy_for(Clock::time_point now) const {
  const bool starts_now = cpu() ? idle() : in_flight_.empty();
  return starts_now ? Clock::duration::zero() : std::max(ready_at_ - now, Clock::duration::zero());
}

void ExecutorState::started(InFlightBatch& batch, TicketQueue& queue, Clock::duration expected, Clock::time_point now) {
  batch.executor = this;
  batch.queue = &queue;
  batch.pace = InFlightBatch::Pace::kInTime;
  batch.started = now;
  batch.expected = expected;
  ready_at_ = std::max(ready_at_, now) + expected;
  last_queue_ = queue.index;
  if (batch.probe) probe_comes_ = false;
  in_flight_.push_back(&batch);
}

bool ExecutorState::ended(InFlightBatch& batch, bool ran, bool right, Clock::time_point now) {
  std::erase(in_flight_, &batch);
  if (in_flight_.empty()) ready_at_ = now;
  const Clock::duration took = now - (cpu() ? batch.started : std::max(batch.started, last_finished_));
  last_finished_ = now;
  if (batch.probe) {
    probe_ended(batch, ran && right, took, now);
    return true;
  }
  Known& it = known_[batch.queue->index];
  if (ran) {
    it.service.add(batch.tickets.size(), took);
    it.measured = now;
  }
  if (cpu()) return true;
  if (!ran) {
    breaker_.failed("batches failed in a row", now);
  } else if (!right) {
    breaker_.open("a result was wrong", now);
    it.proof = Proof::kNone;
  } else if (batch.pace == InFlightBatch::Pace::kInTime) {
    breaker_.succeeded();
  }
  return ran && right;
}

void ExecutorState::probe_ended(InFlightBatch& batch, bool passed, Clock::duration took, Clock::time_point now) {
  Known& it = known_[batch.queue->index];
  if (batch.pace != InFlightBatch::Pace::kInTime) return;
  if (!passed) {
    it.proof = Proof::kNone;
    breaker_.open("a probe failed", now);
    return;
  }
  breaker_.close();
  if (++it.passed == 1) {
    it.proof = Proof::kWanted;
    return;
  }
  if (now - it.measured > kForgotten) it.service = {};
  it.service.add(batch.tickets.size(), took);
  it.measured = now;
  it.proof = Proof::kProven;
}

void ExecutorState::check_deadline(InFlightBatch& batch, Clock::duration deadline, Clock::time_point now,
                                   Clock::time_point& next) {
  using Pace = InFlightBatch::Pace;
  if (batch.pace == Pace::kStalled) return;
  const bool late = batch.pace == Pace::kLate;
  const Clock::time_point limit = batch.started + (batch.probe ? std::max(deadline, kProbeDeadline)
                                                   : late      ? std::max(kDeadlinesOfAStall * deadline, kShortestStall)
                                                               : deadline);
  if (now < limit) {
    next = std::min(next, limit);
  } else if (batch.probe || late) {
    batch.pace = Pace::kStalled;
    breaker_.open(batch.probe ? "a probe passed its deadline" : "a batch stalled", now);
    if (batch.probe) known_[batch.queue->index].proof = Proof::kNone;
  } else {
    batch.pace = Pace::kLate;
    breaker_.late("batches passed their deadline in a row", batch.started, now);
  }
}

bool ExecutorState::lacks_probe(const TicketQueue& queue, bool waits, Clock::time_point now) const {
  const Known& it = known_[queue.index];
  if (cpu() || it.proof == Proof::kUnfit || !executor_->has(*queue.scheme)) return false;
  if (!breaker_.closed()) return !asked_for_;
  const bool old = it.proof == Proof::kProven && now - it.measured > kForgotten && in_flight_.empty();
  if (it.proof != Proof::kNone && !old) return false;
  const bool is_long = queue.single.known() && queue.single.of(1) > kLongOperation;
  return forced_ || executor_->kind() != Executor::Kind::kAccelerator || waits || is_long;
}

void ExecutorState::ask_for_probe(const TicketQueue& queue) {
  if (breaker_.closed()) {
    known_[queue.index].proof = Proof::kWanted;
  } else {
    asked_for_ = true;
  }
}

std::optional<uint32_t> ExecutorState::begin_probe(Clock::time_point now, Clock::time_point& next) {
  if (cpu() || !idle()) return {};
  if (breaker_.state() == Breaker::State::kOpen && asked_for_) {
    if (now < breaker_.pause_ends()) {
      next = std::min(next, breaker_.pause_ends());
      return {};
    }
    breaker_.probe();
    asked_for_ = false;
  } else {
    const auto wanted = std::ranges::find(known_, Proof::kWanted, &Known::proof);
    if (!breaker_.closed() || wanted == known_.end()) return {};
    last_queue_ = static_cast<uint32_t>(wanted - known_.begin());
  }
  known_[last_queue_].proof = Proof::kProbing;
  probe_comes_ = true;
  return last_queue_;
}

void ExecutorState::cancel_probe(const TicketQueue& queue, bool available, Clock::time_point now) {
  probe_comes_ = false;
  const bool never = !available && executor_->kind() == Executor::Kind::kAccelerator && breaker_.closed();
  known_[queue.index].proof = never ? Proof::kUnfit : Proof::kNone;
  if (!never) breaker_.open(available ? "no memory for a probe" : executor_->problem(), now);
}

}  // namespace polykem
