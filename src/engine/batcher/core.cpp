// SPDX-License-Identifier: Apache-2.0
// What happens when an operation is handed in.
#include "engine/batcher/core.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "core/round.hpp"
#include "schemes/registry.hpp"

namespace polykem {

namespace {

constexpr size_t kQueuesOfSet = kOps + 1;  // decaps of seeds has its own

/// Of the time to wake a thread that waits for a result.
constexpr Clock::duration kSwitch = std::chrono::microseconds(10);
/// The part of the CPUs that may be busy with operations on their callers' threads.
constexpr double kBusyCpus = 0.6;
/// The part of its own time that a caller may spend so where batches are cheaper or other threads could do the work.
constexpr double kBusyCaller = 0.1;
/// An operation that takes longer on the CPU may be worth a device even when nothing waits.
constexpr Clock::duration kLongOperation = std::chrono::microseconds(100);

/// What an operation may cost of which nothing is known.
constexpr Clock::duration kUnmeasuredOperation = std::chrono::milliseconds(1);

/// What this thread hands in, as if it computed all of it.
thread_local Load own_load;

}  // namespace

Status compute_now(Engine& engine, Ticket& ticket) {
  Status item = Status::out_of_memory;
  if (ticket.reserve_outputs()) {
    Request request = ticket.request();
    request.run_on = RunOn::caller;
    request.records.item_status = &item;
    const Status status = engine.run_here(request);
    if (status != Status::items) item = status;
  }
  ticket.finish(item, 1);
  return item;
}

void TicketList::push_back(Ticket* ticket) {
  ticket->place.next = nullptr;
  ticket->place.previous = last;
  (last == nullptr ? first : last->place.next) = ticket;
  last = ticket;
  ++size;
}

void TicketList::remove(Ticket* ticket) {
  auto& place = ticket->place;
  (place.previous == nullptr ? first : place.previous->place.next) = place.next;
  (place.next == nullptr ? last : place.next->place.previous) = place.previous;
  place.next = place.previous = nullptr;
  --size;
}

unsigned LaneState::busy() const {
  unsigned width = probe_comes ? 1 : 0;
  for (const BatchSlot* slot : in_flight)
    width += slot->width;
  return width;
}

bool LaneState::all_late() const {
  return std::ranges::all_of(in_flight, [](const BatchSlot* slot) { return slot->pace != BatchSlot::Pace::in_time; });
}

size_t bucket_of(uint64_t value, size_t buckets) {
  return value < 2 ? 0 : std::min<size_t>(static_cast<size_t>(std::bit_width(value)) - 1, buckets - 1);
}

BatcherCore::BatcherCore(Engine& engine, const BatcherConfig& config) : engine_(engine), config_(config) {
  const auto sets = registry();
  queues_.resize(sets.size() * kQueuesOfSet);
  for (size_t i = 0; i < queues_.size(); ++i) {
    queues_[i].scheme = sets[i / kQueuesOfSet];
    queues_[i].op = static_cast<Op>(std::min(i % kQueuesOfSet, kOps - 1));
  }
  const auto add_lane = [this](std::unique_ptr<BatchLane> lane) {
    LaneState& state = lanes_.emplace_back();
    state.breaker = Breaker(lane->longest_pause());
    state.lane = std::move(lane);
    state.known.resize(queues_.size());
    state.in_flight.reserve(state.lane->slots());
  };
  add_lane(std::make_unique<CpuLane>(engine_));
  lanes_.front().cpu = true;
  for (Accelerator* accelerator : engine_.usable_accelerators()) {
    if (accelerator->only_if_forced() && !engine_.is_forced()) continue;
    add_lane(make_accelerator_lane(engine_, *accelerator));
    lanes_.back().forced = engine_.is_forced();
  }
  if (config_.more_lanes && !engine_.is_forced()) {
    if (auto lane = config_.more_lanes(); lane != nullptr) add_lane(std::move(lane));
  }
  size_t slots = 4;
  for (const LaneState& lane : lanes_)
    slots += 2 * lane.lane->slots();
  free_slots_.reserve(slots);
  for (size_t i = 0; i < slots; ++i) {
    slots_.push_back(std::make_unique<BatchSlot>());
    slots_.back()->tickets.reserve(config_.batch_items);
    slots_.back()->memory.reserve(config_.batch_items);
    free_slots_.push_back(slots_.back().get());
  }
}

uint32_t BatcherCore::queue_index(const Scheme& scheme, Op op, bool sk_is_seed) {
  const auto sets = registry();
  const auto set = static_cast<size_t>(std::find(sets.begin(), sets.end(), &scheme) - sets.begin());
  return static_cast<uint32_t>(set * kQueuesOfSet + (sk_is_seed ? kOps : static_cast<size_t>(op)));
}

Status BatcherCore::add(Ticket* ticket, uint32_t index, Ticket::Callback done, void* user, Caller caller) noexcept {
  const Clock::time_point now = Clock::now();
  Lock lock(mutex_);
  TicketQueue& queue = queues_[index];
  if (in_flight_ >= config_.hard_limit || closing_) {
    ++queue.stats.refused;
    return Status::busy;
  }
  if (std::ranges::any_of(lanes_, [index](const LaneState& lane) { return lane.forced && lane.cannot_run(index); }))
    return Status::backend_unavailable;
  ++in_flight_;
  ++queue.stats.in_flight;
  const bool here = caller_is_sooner(index, caller, now);
  want_lanes(index, !here, now);
  if (here) {
    lock.unlock();
    compute_here(ticket, index);
    return Status::ok;
  }
  ticket->add_reference();
  ticket->place.core = shared_from_this();
  ticket->place.queue = index;
  ticket->place.since = now;
  ticket->place.in = ticket->place.waiting;
  queue.waiting.push_back(ticket);
  ++waiting_of_op_[static_cast<size_t>(queue.op)];
  lock.unlock();
  dispatch();
  ticket->arm(done, user);
  return Status::ok;
}

/// Whether computing on the caller's thread is faster than queueing.
bool BatcherCore::caller_is_sooner(uint32_t index, Caller caller, Clock::time_point now) {
  if (!config_.on_caller || config_.linger.count() > 0 || held_ > 0) return false;
  const TicketQueue& queue = queues_[index];
  const bool spills = in_flight_ >= config_.high_water;
  for (const LaneState& lane : lanes_)
    if (lane.forced && lane.takes(index) && !spills) return false;
  if (!queue.single.known()) return true;
  const Clock::duration single = queue.single.of(1);
  load_.add(single, now);
  own_load.add(single, now);
  if (single > caller.longest_here) return false;
  const bool worth_a_switch = single > kSwitch && !caller.waits;
  if (own_load.at(now) > kBusyCaller && worth_a_switch && (engine_.threads() > 1 || cheaper(lanes_.front(), index)))
    return false;
  const bool loaded = is_loaded(now);
  for (const LaneState& lane : lanes_) {
    if (!lane.cpu && (spills || !lane.takes(index))) continue;
    if (loaded && cheaper(lane, index)) return false;
    if (!lane.cpu && time_for(lane, index, queue.waiting.size + 1, now) + kSwitch < single) return false;
  }
  return true;
}

bool BatcherCore::is_loaded(Clock::time_point now) const {
  return load_.at(now) > kBusyCpus * engine_.threads();
}

Clock::duration BatcherCore::service_of(const LaneState& lane, uint32_t index, size_t items) const {
  const ServiceTime& service = lane.known[index].service;
  if (service.known()) return service.of(items);
  const ServiceTime& single = queues_[index].single;
  return single.known() ? single.of(1) * static_cast<Clock::rep>(divided_up(items, engine_.threads()))
                        : Clock::duration::zero();
}

Clock::duration BatcherCore::time_for(const LaneState& lane, uint32_t index, size_t items,
                                      Clock::time_point now) const {
  const Clock::duration service = service_of(lane, index, items);
  const bool starts_now = lane.cpu ? lane.idle() : lane.in_flight.empty();
  return starts_now ? service : service + std::max(lane.ready_at - now, Clock::duration::zero());
}

/// True if large batches on the lane take less of its time for an item than the CPUs need for a single one.
bool BatcherCore::cheaper(const LaneState& lane, uint32_t index) const {
  const TicketQueue& queue = queues_[index];
  const ServiceTime& service = lane.known[index].service;
  if (lane.cpu && !service.known()) return engine_.cpu_backend_for(*queue.scheme)->op(queue.op).granule > 1;
  const auto items = static_cast<Clock::rep>(items_allowed(lane, index));
  if (items == 0 || !service.known()) return false;
  return service.of(static_cast<size_t>(items)) / items * 5 < queue.single.of(1) / engine_.threads() * 4;
}

Clock::duration BatcherCore::cost(uint32_t index) {
  const Lock lock(mutex_);
  const TicketQueue& queue = queues_[index];
  const auto threads = static_cast<Clock::rep>(engine_.threads());
  Clock::duration least = queue.single.known() ? queue.single.of(1) / threads : Clock::duration::max();
  for (const LaneState& lane : lanes_) {
    const ServiceTime& service = lane.known[index].service;
    if (!service.known() || (!lane.cpu && !lane.takes(index))) continue;
    Clock::duration one = service.share();
    if (lane.cpu) one = one * static_cast<Clock::rep>(cpu_width(queue, service.usual_items())) / threads;
    least = std::min(least, one);
  }
  return least == Clock::duration::max() ? kUnmeasuredOperation / threads : least;
}

void BatcherCore::compute_here(Ticket* ticket, uint32_t index) {
  const Clock::time_point begin = Clock::now();
  ticket->claim();
  const Status status = compute_now(engine_, *ticket);
  const Clock::time_point end = Clock::now();
  const Lock lock(mutex_);
  TicketQueue& queue = queues_[index];
  // One interrupted call must not raise the estimate of the operation's cost.
  const Clock::duration most = queue.single.known() ? 2 * queue.single.of(1) : end - begin;
  if (status != Status::out_of_memory) queue.single.add(1, std::min(end - begin, most));
  ++queue.stats.on_caller;
  if (status != Status::ok) ++queue.stats.failed;
  count_finished(queue, 1);
}

void BatcherCore::count_finished(TicketQueue& queue, size_t operations) {
  queue.stats.operations += operations;
  queue.stats.in_flight -= operations;
  in_flight_ -= operations;
  if (in_flight_ == 0) idle_.notify_all();
}

/// Asks for probes of the lanes that the queue could use.
void BatcherCore::want_lanes(uint32_t index, bool waits, Clock::time_point now) {
  using Proof = LaneState::Proof;
  const ServiceTime& single = queues_[index].single;
  const bool is_long = single.known() && single.of(1) > kLongOperation;
  for (LaneState& lane : lanes_) {
    if (lane.cpu) continue;
    LaneState::Known& known = lane.known[index];
    if (known.proof == Proof::unfit) continue;
    if (!lane.breaker.closed()) {
      if (!std::exchange(lane.asked_for, true)) wake_prober();
      continue;
    }
    const bool old = known.proof == Proof::proven && now - known.measured > kForgotten && lane.in_flight.empty();
    if (known.proof != Proof::none && !old) continue;
    if (!lane.forced && lane.lane->kind() == BatchLane::Kind::accelerator && !waits && !is_long) continue;
    if (!start_monitor()) continue;
    known.proof = Proof::wanted;
    wake_prober();
  }
}

void BatcherCore::hold() {
  const Lock lock(mutex_);
  ++held_;
}

void BatcherCore::release() {
  {
    const Lock lock(mutex_);
    if (held_ == 0 || --held_ > 0) return;
  }
  dispatch();
}

void BatcherCore::abandon(Ticket* ticket) {
  Lock lock(mutex_);
  auto& place = ticket->place;
  if (place.in == place.nowhere) return;
  TicketQueue& queue = queues_[place.queue];
  (place.in == place.waiting ? queue.waiting : queue.rescue).remove(ticket);
  --waiting_of_op_[static_cast<size_t>(queue.op)];
  place.in = place.nowhere;
  if (ticket->claim()) {
    ++queue.stats.abandoned;
    --queue.stats.in_flight;
    if (--in_flight_ == 0) idle_.notify_all();
  }
  lock.unlock();
  ticket->release();
}

void BatcherCore::finish() {
  const auto all_done = [this] { return in_flight_ == 0 && free_slots_.size() == slots_.size(); };
  {
    Lock lock(mutex_);
    linger_until_.reset();
    closing_ = true;
  }
  dispatch();
  {
    Lock lock(mutex_);
    idle_.wait(lock, all_done);
    stopping_ = true;
    wake_monitor();
    wake_prober();
  }
  for (std::thread* thread : {&prober_, &monitor_})
    if (thread->joinable()) thread->join();
  std::vector<LaneState> ended;  // their threads may wait for the lock
  Lock lock(mutex_);
  idle_.wait(lock, all_done);
  ended.swap(lanes_);
  lock.unlock();
}

BatcherStats BatcherCore::stats(const Scheme& scheme, Op op) {
  const Lock lock(mutex_);
  const auto read = [this](const TicketQueue& queue) {
    BatcherStats stats = queue.stats;
    stats.waiting = queue.size();
    return stats;
  };
  BatcherStats sum = read(queues_[queue_index(scheme, op, false)]);
  if (op != Op::decaps) return sum;
  const BatcherStats seeds = read(queues_[queue_index(scheme, op, true)]);
  const auto add = [](auto& to, const auto& from) {
    for (size_t i = 0; i < to.size(); ++i)
      to[i] += from[i];
  };
  for (uint64_t BatcherStats::*counter :
       {&BatcherStats::operations, &BatcherStats::on_caller, &BatcherStats::on_cpu, &BatcherStats::on_accelerator,
        &BatcherStats::on_broker, &BatcherStats::spilled, &BatcherStats::rescued, &BatcherStats::refused,
        &BatcherStats::abandoned, &BatcherStats::failed, &BatcherStats::batches, &BatcherStats::batch_items_sum,
        &BatcherStats::wait_us_sum, &BatcherStats::service_us_sum, &BatcherStats::waiting, &BatcherStats::in_flight})
    sum.*counter += seeds.*counter;
  add(sum.batch_items, seeds.batch_items);
  add(sum.wait_us, seeds.wait_us);
  add(sum.service_us, seeds.service_us);
  return sum;
}

bool BatcherCore::health(size_t index, LaneHealth& out) {
  const Lock lock(mutex_);
  if (index >= lanes_.size()) return false;
  const LaneState& lane = lanes_[index];
  const auto proven = [](const LaneState::Known& known) { return known.proof == LaneState::Proof::proven; };
  const bool used = lane.cpu || lane.breaker.opened() > 0 || std::ranges::any_of(lane.known, proven);
  out = {.name = lane.lane->name(),
         .kind = lane.lane->kind(),
         .state = LaneHealth::State::unused,
         .reason = lane.breaker.reason(),
         .opened = lane.breaker.opened(),
         .batches = static_cast<unsigned>(lane.in_flight.size())};
  if (!used) return true;
  switch (lane.breaker.state()) {
    case Breaker::State::closed:
      out.state = LaneHealth::State::closed;
      break;
    case Breaker::State::open:
      out.state = LaneHealth::State::open;
      break;
    case Breaker::State::half_open:
      out.state = LaneHealth::State::half_open;
      break;
  }
  return true;
}

}  // namespace polykem
