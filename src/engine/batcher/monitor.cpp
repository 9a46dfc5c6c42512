// SPDX-License-Identifier: Apache-2.0
// Two threads that watch lanes beside the CPU: the monitor has deadlines and the timer of a linger; the prober, whom a
// lane may keep waiting while it connects or opens a device, has probes. They start when such a lane is first wanted
// and sleep without a timer while nothing is there.
#include <algorithm>
#include <new>
#include <system_error>

#include "core/thread.hpp"

#include "engine/batcher/core.hpp"

namespace polykem {

namespace {

constexpr size_t kProbeItems = 2;
/// A first batch may load and allocate a good deal.
constexpr Clock::duration kProbeDeadline = std::chrono::seconds(2);
/// A batch has stalled after so many deadlines, and not before the second constant: a busy machine may keep a device's
/// thread from a CPU for tens of milliseconds.
constexpr int kDeadlinesOfAStall = 10;
constexpr Clock::duration kShortestStall = std::chrono::milliseconds(50);

void note(std::optional<Clock::time_point>& next, Clock::time_point time) {
  next = next ? std::min(*next, time) : time;
}

bool is_available(BatchLane& lane, const Scheme& scheme, Op op) try {
  return lane.available(scheme, op);
} catch (const std::bad_alloc&) {
  return false;
}

}  // namespace

/// False if the system gives no thread.
bool BatcherCore::start_monitor() {
  if (monitor_.joinable() && prober_.joinable()) return true;
  try {
    if (!monitor_.joinable()) monitor_ = start_thread([this] { monitor(); });
    prober_ = start_thread([this] { prober(); });
  } catch (const std::system_error&) {
    return false;
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}

void BatcherCore::wake_monitor() {
  monitor_woken_ = true;
  monitor_wake_.notify_one();
}

void BatcherCore::wake_prober() {
  prober_woken_ = true;
  prober_wake_.notify_one();
}

void BatcherCore::monitor() {
  Lock lock(mutex_);
  while (!stopping_) {
    const Clock::time_point now = Clock::now();
    Timer next;
    monitor_woken_ = false;
    bool starts = check_deadlines(now, next);
    if (linger_until_) {
      starts |= *linger_until_ <= now;
      *linger_until_ <= now ? linger_until_.reset() : note(next, *linger_until_);
    }
    if (starts) {
      lock.unlock();
      dispatch();
      lock.lock();
    } else if (!monitor_woken_) {
      monitor_until_ = next.value_or(Clock::time_point::max());
      const auto woken = [this] { return monitor_woken_; };
      next ? static_cast<void>(monitor_wake_.wait_until(lock, *next, woken)) : monitor_wake_.wait(lock, woken);
      monitor_until_ = Clock::time_point::max();
    }
  }
}

void BatcherCore::prober() {
  Lock lock(mutex_);
  while (!stopping_) {
    Timer next;
    uint32_t queue = 0;
    prober_woken_ = false;
    LaneState* const lane = find_probe(Clock::now(), queue, next);
    const auto woken = [this] { return prober_woken_; };
    if (lane != nullptr) {
      run_probe(lock, *lane, queue);
    } else {
      next ? static_cast<void>(prober_wake_.wait_until(lock, *next, woken)) : prober_wake_.wait(lock, woken);
    }
  }
}

/// True if the CPU may have something to compute now.
bool BatcherCore::check_deadlines(Clock::time_point now, Timer& next) {
  bool rescues = false;
  for (LaneState& lane : lanes_) {
    if (lane.cpu) continue;
    for (BatchSlot* slot : lane.in_flight)
      rescues |= check_deadline(lane, *slot, now, next);
  }
  return rescues;
}

bool BatcherCore::check_deadline(LaneState& lane, BatchSlot& slot, Clock::time_point now, Timer& next) {
  using Pace = BatchSlot::Pace;
  if (slot.pace == Pace::stalled) return false;
  const Clock::duration deadline = config_.deadline;
  const Clock::duration limit = slot.probe                ? std::max(deadline, kProbeDeadline)
                                : slot.pace == Pace::late ? std::max(kDeadlinesOfAStall * deadline, kShortestStall)
                                                          : deadline;
  if (now < slot.started + limit) {
    note(next, slot.started + limit);
    return false;
  }
  if (slot.probe || slot.pace == Pace::late) {
    slot.pace = Pace::stalled;
    lane.breaker.open(slot.probe ? "a probe passed its deadline" : "a batch stalled", now);
    if (slot.probe) lane.known[slot.queue].proof = LaneState::Proof::none;
    wake_prober();
    return true;
  }
  slot.pace = Pace::late;
  lane.breaker.late("batches passed their deadline in a row", slot.started, now);
  rescue(slot);
  return true;
}

/// The lane that needs a probe now, and of which queue.
LaneState* BatcherCore::find_probe(Clock::time_point now, uint32_t& queue, Timer& next) {
  if (closing_) return nullptr;
  for (LaneState& lane : lanes_) {
    if (lane.cpu || !lane.idle()) continue;
    if (lane.breaker.state() == Breaker::State::open && lane.asked_for) {
      if (now < lane.breaker.pause_ends()) {
        note(next, lane.breaker.pause_ends());
        continue;
      }
      lane.breaker.probe();
      lane.asked_for = false;
      queue = lane.last_queue;
      return &lane;
    }
    const auto wanted = [](const LaneState::Known& known) { return known.proof == LaneState::Proof::wanted; };
    const auto known = std::ranges::find_if(lane.known, wanted);
    if (!lane.breaker.closed() || known == lane.known.end()) continue;
    queue = static_cast<uint32_t>(known - lane.known.begin());
    return &lane;
  }
  return nullptr;
}

/// Starts a probe. Its end is that of any batch. While it is put together, it has its place at the lane.
void BatcherCore::run_probe(Lock& lock, LaneState& lane, uint32_t queue) {
  using Proof = LaneState::Proof;
  lane.known[queue].proof = Proof::probing;
  lane.last_queue = queue;
  lane.probe_comes = true;
  lock.unlock();
  const bool available = is_available(*lane.lane, *queues_[queue].scheme, queues_[queue].op);
  std::vector<Ticket*> tickets = available ? make_probe(queue) : std::vector<Ticket*>();
  lock.lock();
  lane.probe_comes = false;
  BatchSlot* const slot = tickets.empty() ? nullptr : take_slot();
  if (slot == nullptr) {
    for (Ticket* ticket : tickets)
      ticket->release();
    const bool never = !available && lane.lane->kind() == BatchLane::Kind::accelerator && lane.breaker.closed();
    lane.known[queue].proof = never ? Proof::unfit : Proof::none;
    if (!never) lane.breaker.open(available ? "no memory for a probe" : lane.lane->problem(), Clock::now());
    return;
  }
  slot->probe = true;
  slot->width = 1;
  slot->tickets.assign(tickets.begin(), tickets.end());
  launch(*slot, lane, queue, Clock::now());
  lock.unlock();
  start(slot);
  lock.lock();
}

void BatcherCore::settle_probe(BatchSlot& slot, bool passed, Clock::duration took, Clock::time_point now) {
  LaneState& lane = *slot.lane;
  LaneState::Known& known = lane.known[slot.queue];
  wake_prober();
  if (slot.pace != BatchSlot::Pace::in_time) return;
  if (!passed) {
    known.proof = LaneState::Proof::none;
    lane.breaker.open("a probe failed", now);
    return;
  }
  lane.breaker.close();
  if (++known.passed == 1) {
    known.proof = LaneState::Proof::wanted;
    return;
  }
  if (now - known.measured > kForgotten) known.service = {};
  known.service.add(slot.tickets.size(), took);
  known.measured = now;
  known.proof = LaneState::Proof::proven;
}

/// The ticket of `inputs` as the CPU computes it, with fresh coins where they are missing; nullptr if it cannot.
Ticket* BatcherCore::computed(const Request& inputs) {
  Ticket* const ticket = Ticket::create(inputs);
  if (ticket == nullptr) return nullptr;
  Status status = Status::ok;
  if (inputs.records.coins == nullptr && !ticket->coins().empty()) status = engine_.draw(ticket->coins());
  ticket->claim();
  if (status == Status::ok) status = compute_now(engine_, *ticket);
  if (status != Status::out_of_memory && status != Status::random) return ticket;
  ticket->release();
  return nullptr;
}

std::vector<Ticket*> BatcherCore::make_probe(uint32_t index) try {
  const TicketQueue& queue = queues_[index];
  const bool seeds = index != queue_index(*queue.scheme, queue.op, false);
  std::vector<Ticket*> tickets;
  tickets.reserve(kProbeItems);
  for (size_t i = 0; i < kProbeItems; ++i) {
    Ticket *pair = computed({.op = Op::keygen, .scheme = queue.scheme}), *encapsulated = nullptr, *result = pair;
    if (queue.op != Op::keygen && pair != nullptr) {
      Request encaps{.op = Op::encaps, .scheme = queue.scheme};
      encaps.records.pk = pair->request().records.pk_out;
      result = encapsulated = computed(encaps);
    }
    if (queue.op == Op::decaps && encapsulated != nullptr) {
      Request decaps{.op = Op::decaps, .sk_is_seed = seeds, .scheme = queue.scheme};
      decaps.records.sk = seeds ? pair->coins().data() : pair->request().records.sk_out;
      decaps.records.ct = encapsulated->request().records.ct_out;
      result = computed(decaps);
    }
    for (Ticket* used : {pair, encapsulated})
      if (used != nullptr && used != result) used->release();
    if (result != nullptr) tickets.push_back(result);
  }
  return tickets;
} catch (const std::bad_alloc&) {
  return {};
}

}  // namespace polykem
