// SPDX-License-Identifier: Apache-2.0
// Adding operations, and the threads that watch executors other than the CPU. The monitor checks deadlines and runs the
// timer of `linger`. The prober sends probes; an executor may block it while it connects or opens a device. Both start
// when such an executor is first wanted, and sleep without a timer while they have nothing to do.
#include "engine/batcher/batcher_core.hpp"

#include <algorithm>
#include <new>
#include <system_error>

#include "core/thread.hpp"
#include "engine/batcher/probe.hpp"

namespace polykem {

namespace {

/// The load that this thread would have if it computed all operations that it adds.
thread_local Load own_load;

bool is_available(Executor& executor, const TicketQueue& queue) try {
  return executor.available(*queue.scheme, queue.op);
} catch (const std::bad_alloc&) {
  return false;
}

}  // namespace

BatcherCore::BatcherCore(Engine& engine, const BatcherConfig& config)
    : engine_(engine), config_(config), queues_(engine, config_) {
  const auto add_executor = [this](std::unique_ptr<Executor> executor, bool forced) {
    if (executor != nullptr) executors_.emplace_back(std::move(executor), queues_.size(), forced);
  };
  add_executor(std::make_unique<CpuExecutor>(engine_), false);
  for (Accelerator* accelerator : engine_.usable_accelerators()) {
    if (accelerator->only_if_forced() && !engine_.is_forced()) continue;
    add_executor(make_accelerator_executor(engine_, *accelerator), engine_.is_forced());
  }
  if (config_.make_executor && !engine_.is_forced()) add_executor(config_.make_executor(), false);
  size_t batches = 4;
  for (const ExecutorState& executor : executors_)
    batches += 2 * executor.executor().max_in_flight();
  batches_ = std::vector<InFlightBatch>(batches);
  free_batches_.reserve(batches);
  for (InFlightBatch& batch : batches_) {
    batch.tickets.reserve(config_.batch_items);
    batch.memory.reserve(config_.batch_items);
    free_batches_.push_back(&batch);
  }
}

Placement BatcherCore::placement_at(Clock::time_point now) const {
  return {config_, engine_.threads(), executors_, queues_.in_flight(), load_, now};
}

Status BatcherCore::admit(uint32_t index) {
  const Lock lock(mutex_);
  TicketQueue& queue = queues_[index];
  const auto forced_in_vain = [&](const ExecutorState& executor) {
    return executor.forced() && executor.cannot_run(queue);
  };
  if (std::ranges::any_of(executors_, forced_in_vain)) return Status::kBackendUnavailable;
  return queues_.admit(queue) ? Status::kOk : Status::kBusy;
}

void BatcherCore::withdraw(uint32_t index) {
  const Lock lock(mutex_);
  queues_.leave(queues_[index], 1);
  if (queues_.in_flight() == 0) idle_.notify_all();
}

void BatcherCore::add(Ticket* ticket, uint32_t index, Ticket::Callback done, void* user, Caller caller) noexcept {
  const Clock::time_point now = Clock::now();
  Lock lock(mutex_);
  TicketQueue& queue = queues_[index];
  const bool here = caller_is_sooner(queue, caller, now);
  want_executors(queue, !here, now);
  if (here) {
    lock.unlock();
    return compute_here(ticket, queue);
  }
  ticket->node.core = shared_from_this();
  queues_.push(queue, ticket, now);
  lock.unlock();
  dispatch();
  ticket->arm(done, user);
}

bool BatcherCore::caller_is_sooner(const TicketQueue& queue, Caller caller, Clock::time_point now) {
  const Placement placement = placement_at(now);
  if (queues_.held() || !placement.caller_may_compute(queue)) return false;
  if (!queue.single.known()) return true;
  load_.add(queue.single.of(1), now);
  own_load.add(queue.single.of(1), now);
  return placement.caller_is_sooner(queue, caller, own_load.at(now));
}

void BatcherCore::compute_here(Ticket* ticket, TicketQueue& queue) {
  const Clock::time_point begin = Clock::now();
  ticket->claim();
  const Status status = compute_now(engine_, *ticket);
  const Clock::time_point end = Clock::now();
  const Lock lock(mutex_);
  // One interrupted call must not raise the estimate of the operation's cost.
  const Clock::duration limit = queue.single.known() ? 2 * queue.single.of(1) : end - begin;
  if (status != Status::kOutOfMemory) queue.single.add(1, std::min(end - begin, limit));
  ++queue.stats->on_caller;
  if (status != Status::kOk) ++queue.stats->failed;
  count_finished(queue, 1);
}

void BatcherCore::count_finished(TicketQueue& queue, size_t operations) {
  queue.stats->operations += operations;
  queues_.leave(queue, operations);
  if (queues_.in_flight() == 0) idle_.notify_all();
}

/// Requests probes of the executors that the queue could use.
void BatcherCore::want_executors(const TicketQueue& queue, bool waits, Clock::time_point now) {
  for (ExecutorState& executor : executors_) {
    if (!executor.lacks_probe(queue, waits, now) || !start_threads()) continue;
    executor.ask_for_probe(queue);
    prober_alarm_.ring();
  }
}

void BatcherCore::hold() {
  const Lock lock(mutex_);
  queues_.hold();
}

void BatcherCore::release() {
  {
    const Lock lock(mutex_);
    if (!queues_.release()) return;
  }
  dispatch();
}

void BatcherCore::abandon(Ticket* ticket) {
  Lock lock(mutex_);
  if (!queues_.remove(ticket)) return;
  if (queues_.in_flight() == 0) idle_.notify_all();
  lock.unlock();
  ticket->release();
}

void BatcherCore::finish() {
  const auto all_done = [this] { return queues_.in_flight() == 0 && free_batches_.size() == batches_.size(); };
  {
    Lock lock(mutex_);
    linger_until_ = kNever;
    queues_.close();
  }
  dispatch();
  {
    Lock lock(mutex_);
    idle_.wait(lock, all_done);
    stopping_ = true;
    monitor_alarm_.ring();
    prober_alarm_.ring();
  }
  for (std::thread* thread : {&prober_, &monitor_})
    if (thread->joinable()) thread->join();
  std::vector<ExecutorState> ended;  // destroyed without the lock, for which their threads may wait
  Lock lock(mutex_);
  idle_.wait(lock, all_done);
  ended.swap(executors_);
  lock.unlock();
}

Clock::duration BatcherCore::cost(uint32_t index) {
  const Lock lock(mutex_);
  return placement_at(Clock::now()).cost(queues_[index]);
}

BatcherStats BatcherCore::stats(const Scheme& scheme, Op op) {
  const Lock lock(mutex_);
  return queues_.stats(scheme, op);
}

bool BatcherCore::health(size_t index, ExecutorHealth& out) {
  const Lock lock(mutex_);
  if (index >= executors_.size()) return false;
  out = executors_[index].health();
  return true;
}

/// Returns false if the system cannot start a thread.
bool BatcherCore::start_threads() try {
  if (!monitor_.joinable()) monitor_ = start_thread([this] { monitor(); });
  if (!prober_.joinable()) prober_ = start_thread([this] { prober(); });
  return true;
} catch (const std::system_error&) {
  return false;
} catch (const std::bad_alloc&) {
  return false;
}

void BatcherCore::monitor() {
  Lock lock(mutex_);
  while (!stopping_) {
    const Clock::time_point now = Clock::now();
    monitor_alarm_.reset();
    bool starts = linger_until_ <= now;
    if (starts) linger_until_ = kNever;
    Clock::time_point next = linger_until_;
    starts |= check_deadlines(now, next);
    if (starts) {
      lock.unlock();
      dispatch();
      lock.lock();
    } else {
      monitor_until_ = next;
      monitor_alarm_.sleep_until(lock, next);
      monitor_until_ = kNever;
    }
  }
}

/// Gives the tickets of batches that are now late to the CPU. Returns true if a batch is newly late or stalled.
bool BatcherCore::check_deadlines(Clock::time_point now, Clock::time_point& next) {
  bool passed = false;
  for (ExecutorState& executor : executors_) {
    if (executor.cpu()) continue;
    for (InFlightBatch* const batch : executor.in_flight()) {
      const InFlightBatch::Pace before = batch->pace;
      executor.check_deadline(*batch, config_.deadline, now, next);
      if (batch->pace == before) continue;
      passed = true;
      batch->pace == InFlightBatch::Pace::kLate ? queues_.rescue(*batch->queue, batch->tickets) : prober_alarm_.ring();
    }
  }
  return passed;
}

void BatcherCore::prober() {
  Lock lock(mutex_);
  while (!stopping_) {
    Clock::time_point next = kNever;
    prober_alarm_.reset();
    std::optional<uint32_t> queue;
    for (ExecutorState& executor : executors_) {
      if (!queues_.closed()) queue = executor.begin_probe(Clock::now(), next);
      if (!queue) continue;
      run_probe(lock, executor, queues_[*queue]);
      break;
    }
    if (!queue) prober_alarm_.sleep_until(lock, next);
  }
}

/// Starts a probe, which ends like any batch.
void BatcherCore::run_probe(Lock& lock, ExecutorState& executor, TicketQueue& queue) {
  lock.unlock();
  const bool available = is_available(executor.executor(), queue);
  const std::vector<Ticket*> tickets = available ? make_probe(engine_, queue) : std::vector<Ticket*>();
  lock.lock();
  InFlightBatch* const batch = tickets.empty() ? nullptr : take_free_batch();
  if (batch == nullptr) {
    for (Ticket* ticket : tickets)
      ticket->release();
    executor.cancel_probe(queue, available, Clock::now());
    return;
  }
  batch->probe = true;
  batch->width = 1;
  batch->tickets.assign(tickets.begin(), tickets.end());
  launch(*batch, executor, queue, Clock::now());
  lock.unlock();
  start(batch);
  lock.lock();
}

}  // namespace polykem
