// SPDX-License-Identifier: Apache-2.0
// Starts batches on idle executors, and delivers the results of those that end.
#include "engine/batcher/batcher_core.hpp"
#include "engine/batcher/probe.hpp"

namespace polykem {

namespace {

/// The CPU recomputes one item in every kRecheckEvery batches of a device.
constexpr uint64_t kRecheckEvery = 32;

bool ran(Status status) {
  return status == Status::kOk || status == Status::kItems;
}

/// The counters of operations by the Executor::Kind that computed them.
constexpr uint64_t BatcherStats::*kFinishedOn[] = {&BatcherStats::on_cpu, &BatcherStats::on_accelerator,
                                                   &BatcherStats::on_broker};

/// True while this thread is in a ticket's callback.
thread_local unsigned delivering = 0;

}  // namespace

bool Batcher::in_callback() {
  return delivering > 0;
}

void BatcherCore::dispatch() {
  while (true) {
    InFlightBatch* batch = nullptr;
    {
      const Lock lock(mutex_);
      batch = next_batch(Clock::now());
    }
    if (batch == nullptr) return;
    start(batch);
  }
}

/// Fills the next batch. Returns nullptr if nothing waits that an idle executor takes.
InFlightBatch* BatcherCore::next_batch(Clock::time_point now) {
  if (queues_.held()) return nullptr;
  const Placement placement = placement_at(now);
  for (const Op op : queues_.order(now)) {
    std::optional<size_t> executor;
    TicketQueue* const queue = queues_.oldest(op, [&](const TicketQueue& oldest) {
      if (lingers(oldest, now)) return false;
      const std::optional<size_t> chosen = placement.choose_executor(oldest);
      if (chosen) executor = chosen;
      return chosen.has_value();
    });
    if (queue == nullptr) continue;
    InFlightBatch* const batch = take_free_batch();
    if (batch == nullptr || fill(*batch, executors_[*executor], *queue, now)) return batch;
    free_batches_.push_back(batch);
    return next_batch(now);  // all of its tickets have results by now
  }
  return nullptr;
}

bool BatcherCore::lingers(const TicketQueue& queue, Clock::time_point now) {
  const std::optional<Clock::time_point> due = queues_.lingers_until(queue, now);
  if (!due || !start_threads()) return false;
  if (*due < linger_until_) {
    linger_until_ = *due;
    monitor_alarm_.ring();
  }
  return true;
}

InFlightBatch* BatcherCore::take_free_batch() {
  all_in_flight_ = free_batches_.empty();
  if (all_in_flight_) return nullptr;
  InFlightBatch* const batch = free_batches_.back();
  free_batches_.pop_back();
  return batch;
}

/// Moves waiting tickets into the batch. Returns false if all of them had results already.
bool BatcherCore::fill(InFlightBatch& batch, ExecutorState& executor, TicketQueue& queue, Clock::time_point now) {
  const Placement placement = placement_at(now);
  const size_t fresh =
      queues_.take(queue, executor.cpu(), placement.items_allowed(executor, queue), now, batch.tickets);
  if (batch.tickets.empty()) return false;
  if (executor.cpu() && placement.spills(queue)) queue.stats->spilled += fresh;
  batch.width = executor.cpu() ? placement.cpu_width(queue, batch.tickets.size()) : 1;
  launch(batch, executor, queue, now);
  return true;
}

void BatcherCore::launch(InFlightBatch& batch, ExecutorState& executor, TicketQueue& queue, Clock::time_point now) {
  executor.started(batch, queue, placement_at(now).service_of(executor, queue, batch.tickets.size()), now);
  if (!executor.cpu() && now + config_.deadline < monitor_until_) monitor_alarm_.ring();  // so that it sets its timer
}

/// Submits a batch, without the lock. A batch that cannot start ends here.
void BatcherCore::start(InFlightBatch* batch) {
  const bool cpu = batch->executor->cpu();
  Status status = Status::kOutOfMemory;
  if (batch->memory.gather(batch->tickets)) {
    status =
        batch->executor->executor().submit(batch->memory.request(), [this, batch](Status s) { on_done(batch, s); });
    if (status == Status::kOk) return;
    if (cpu) status = engine_.run_here(batch->memory.request());
  }
  if (conclude(*batch, status)) deliver(*batch, status);
  recycle(batch);
}

/// Called on a thread of the executor. Starts the next batch before it delivers this one's results.
void BatcherCore::on_done(InFlightBatch* batch, Status status) {
  const std::shared_ptr<BatcherCore> self = shared_from_this();
  const bool useful = conclude(*batch, status);
  dispatch();
  if (useful) deliver(*batch, status);
  if (recycle(batch)) dispatch();
}

/// Records the end of a batch. Returns false if the results must not be used; the CPU then computes the tickets.
bool BatcherCore::conclude(InFlightBatch& batch, Status status) {
  const bool right = result_is_right(batch, status);
  const Lock lock(mutex_);
  const Clock::time_point now = Clock::now();
  const bool useful = batch.executor->ended(batch, ran(status), right, now);
  if (!batch.executor->cpu()) prober_alarm_.ring();
  if (batch.probe) return false;
  queues_.count_batch(*batch.queue, batch.tickets.size(), now - batch.started);
  if (!useful) queues_.rescue(*batch.queue, batch.tickets);
  return useful;
}

/// Compares a probe, or sometimes one item of a batch, with what the CPU computes from the same inputs and coins.
bool BatcherCore::result_is_right(InFlightBatch& batch, Status status) {
  if (batch.executor->cpu() || !ran(status)) return true;
  if (batch.probe) {
    for (size_t i = 0; i < batch.tickets.size(); ++i)
      if (!batch.memory.equals(i, *batch.tickets[i])) return false;
    return true;
  }
  const uint64_t number = device_batches_.fetch_add(1, std::memory_order_relaxed);
  if (number % kRecheckEvery != 0) return true;
  const size_t chosen = number / kRecheckEvery % batch.tickets.size();
  Ticket* const again = computed(engine_, batch.tickets[chosen]->inputs());
  const bool right = again == nullptr || batch.memory.equals(chosen, *again);
  if (again != nullptr) again->release();
  return right;
}

/// Delivers the results; a ticket keeps the first one. Counters are updated before, so that they include every result
/// that has been delivered.
void BatcherCore::deliver(InFlightBatch& batch, Status status) {
  size_t finished = 0, failed = 0;
  if (!ran(status)) batch.memory.set_status(status);
  for (size_t i = 0; i < batch.tickets.size(); ++i) {
    Ticket& ticket = *batch.tickets[i];
    if (!ticket.claim()) {
      ticket.release();
      batch.tickets[i] = nullptr;
      continue;
    }
    batch.memory.copy_out(i, ticket);
    ++finished;
    if (batch.memory.item_status(i) != Status::kOk) ++failed;
  }
  batch.memory.zeroize();  // before callbacks run
  {
    const Lock lock(mutex_);
    batch.queue->stats->failed += failed;
    batch.queue->stats->*kFinishedOn[static_cast<size_t>(batch.executor->executor().kind())] += finished;
    count_finished(*batch.queue, finished);
  }
  ++delivering;
  for (size_t i = 0; i < batch.tickets.size(); ++i)
    if (batch.tickets[i] != nullptr) batch.tickets[i]->finish(batch.memory.item_status(i), batch.tickets.size());
  --delivering;
}

/// Frees the batch. Returns true if another one may have waited for that.
bool BatcherCore::recycle(InFlightBatch* batch) {
  for (Ticket* ticket : batch->tickets)
    if (ticket != nullptr) ticket->release();
  batch->tickets.clear();
  batch->memory.zeroize();
  batch->probe = false;
  const Lock lock(mutex_);
  free_batches_.push_back(batch);
  idle_.notify_all();
  return all_in_flight_;
}

}  // namespace polykem
