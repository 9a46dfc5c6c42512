// SPDX-License-Identifier: Apache-2.0
// Starts batches on idle executors, and delivers the results of those that end.
#include "engine/batcher/core.hpp"
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
    BatchSlot* slot = nullptr;
    {
      const Lock lock(mutex_);
      slot = next_batch(Clock::now());
    }
    if (slot == nullptr) return;
    start(slot);
  }
}

/// Fills a slot for the next batch. Returns nullptr if nothing waits that an idle executor takes.
BatchSlot* BatcherCore::next_batch(Clock::time_point now) {
  if (queues_.held()) return nullptr;
  const Placement places = placement(now);
  for (const Op op : queues_.order(now)) {
    std::optional<size_t> executor;
    TicketQueue* const queue = queues_.oldest(op, [&](const TicketQueue& oldest) {
      if (lingers(oldest, now)) return false;
      const std::optional<size_t> chosen = places.choose_executor(oldest);
      if (chosen) executor = chosen;
      return chosen.has_value();
    });
    if (queue == nullptr) continue;
    BatchSlot* const slot = take_slot();
    if (slot == nullptr || fill(*slot, executors_[*executor], *queue, now)) return slot;
    free_slots_.push_back(slot);
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

BatchSlot* BatcherCore::take_slot() {
  slots_short_ = free_slots_.empty();
  if (slots_short_) return nullptr;
  BatchSlot* const slot = free_slots_.back();
  free_slots_.pop_back();
  return slot;
}

/// Moves waiting tickets into the slot. Returns false if all of them had results already.
bool BatcherCore::fill(BatchSlot& slot, ExecutorState& executor, TicketQueue& queue, Clock::time_point now) {
  const Placement places = placement(now);
  const size_t fresh = queues_.take(queue, executor.cpu(), places.items_allowed(executor, queue), now, slot.tickets);
  if (slot.tickets.empty()) return false;
  if (executor.cpu() && places.spills(queue)) queue.stats->spilled += fresh;
  slot.width = executor.cpu() ? places.cpu_width(queue, slot.tickets.size()) : 1;
  launch(slot, executor, queue, now);
  return true;
}

void BatcherCore::launch(BatchSlot& slot, ExecutorState& executor, TicketQueue& queue, Clock::time_point now) {
  executor.started(slot, queue, placement(now).service_of(executor, queue, slot.tickets.size()), now);
  if (!executor.cpu() && now + config_.deadline < monitor_until_) monitor_alarm_.ring();  // so that it sets its timer
}

/// Submits a batch, without the lock. A batch that cannot start ends here.
void BatcherCore::start(BatchSlot* slot) {
  const bool cpu = slot->executor->cpu();
  Status status = Status::kOutOfMemory;
  if (slot->memory.gather(slot->tickets)) {
    status = slot->executor->executor().submit(slot->memory.request(), [this, slot](Status s) { on_done(slot, s); });
    if (status == Status::kOk) return;
    if (cpu) status = engine_.run_here(slot->memory.request());
  }
  if (conclude(*slot, status)) deliver(*slot, status);
  recycle(slot);
}

/// Called on a thread of the executor. Starts the next batch before it delivers this one's results.
void BatcherCore::on_done(BatchSlot* slot, Status status) {
  const std::shared_ptr<BatcherCore> self = shared_from_this();
  const bool useful = conclude(*slot, status);
  dispatch();
  if (useful) deliver(*slot, status);
  if (recycle(slot)) dispatch();
}

/// Records the end of a batch. Returns false if the results must not be used; the CPU then computes the tickets.
bool BatcherCore::conclude(BatchSlot& slot, Status status) {
  const bool right = result_is_right(slot, status);
  const Lock lock(mutex_);
  const Clock::time_point now = Clock::now();
  const bool useful = slot.executor->ended(slot, ran(status), right, now);
  if (!slot.executor->cpu()) prober_alarm_.ring();
  if (slot.probe) return false;
  queues_.count_batch(*slot.queue, slot.tickets.size(), now - slot.started);
  if (!useful) queues_.rescue(*slot.queue, slot.tickets);
  return useful;
}

/// Compares a probe, or sometimes one item of a batch, with what the CPU computes from the same inputs and coins.
bool BatcherCore::result_is_right(BatchSlot& slot, Status status) {
  if (slot.executor->cpu() || !ran(status)) return true;
  if (slot.probe) {
    for (size_t i = 0; i < slot.tickets.size(); ++i)
      if (!slot.memory.equals(i, *slot.tickets[i])) return false;
    return true;
  }
  const uint64_t batch = device_batches_.fetch_add(1, std::memory_order_relaxed);
  if (batch % kRecheckEvery != 0) return true;
  const size_t chosen = batch / kRecheckEvery % slot.tickets.size();
  Ticket* const again = computed(engine_, slot.tickets[chosen]->inputs());
  const bool right = again == nullptr || slot.memory.equals(chosen, *again);
  if (again != nullptr) again->release();
  return right;
}

/// Delivers the results; a ticket keeps the first one. Counters are updated before, so that they include every result
/// that has been delivered.
void BatcherCore::deliver(BatchSlot& slot, Status status) {
  size_t finished = 0, failed = 0;
  if (!ran(status)) slot.memory.set_status(status);
  for (size_t i = 0; i < slot.tickets.size(); ++i) {
    Ticket& ticket = *slot.tickets[i];
    if (!ticket.claim()) {
      ticket.release();
      slot.tickets[i] = nullptr;
      continue;
    }
    slot.memory.copy_out(i, ticket);
    ++finished;
    if (slot.memory.item_status(i) != Status::kOk) ++failed;
  }
  slot.memory.wipe();  // before callbacks run
  {
    const Lock lock(mutex_);
    slot.queue->stats->failed += failed;
    slot.queue->stats->*kFinishedOn[static_cast<size_t>(slot.executor->executor().kind())] += finished;
    count_finished(*slot.queue, finished);
  }
  ++delivering;
  for (size_t i = 0; i < slot.tickets.size(); ++i)
    if (slot.tickets[i] != nullptr) slot.tickets[i]->finish(slot.memory.item_status(i), slot.tickets.size());
  --delivering;
}

/// Returns the slot. True if a batch may have waited for it.
bool BatcherCore::recycle(BatchSlot* slot) {
  for (Ticket* ticket : slot->tickets)
    if (ticket != nullptr) ticket->release();
  slot->tickets.clear();
  slot->memory.wipe();
  slot->probe = false;
  const Lock lock(mutex_);
  free_slots_.push_back(slot);
  idle_.notify_all();
  return slots_short_;
}

}  // namespace polykem
