// SPDX-License-Identifier: Apache-2.0
// Batches: which starts next and where, and what happens when it ends.
#include <algorithm>
#include <array>
#include <functional>

#include "core/round.hpp"
#include "engine/batcher/core.hpp"

namespace polykem {

namespace {

/// Encaps and keygen on the CPU take at most so long together, and one batch of them half of it: a decapsulation waits
/// no longer for them. A single one may take longer.
constexpr Clock::duration kMostAhead = std::chrono::milliseconds(40);
/// The CPU needs no more at once to fill its lanes, and a slot keeps its memory.
constexpr size_t kMostBytesOnCpu = size_t{16} << 20;
/// The items of a first batch of which nothing is known.
constexpr size_t kUnmeasuredItems = 16;
/// Of so many batches of a device, the CPU checks an item of one.
constexpr uint64_t kRecheckEvery = 32;

bool ran(Status status) {
  return status == Status::ok || status == Status::items;
}

uint64_t microseconds(Clock::duration time) {
  return static_cast<uint64_t>(
      std::max<Clock::rep>(std::chrono::duration_cast<std::chrono::microseconds>(time).count(), 0));
}

uint64_t BatcherStats::*counter_of(BatchLane::Kind kind) {
  switch (kind) {
    case BatchLane::Kind::accelerator:
      return &BatcherStats::on_accelerator;
    case BatchLane::Kind::broker:
      return &BatcherStats::on_broker;
    default:
      return &BatcherStats::on_cpu;
  }
}

/// This thread is in the callback of a ticket.
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

/// Since when the operation's first ticket waits; `now` if none does.
Clock::time_point BatcherCore::waits_since(Op op, Clock::time_point now) const {
  Clock::time_point since = now;
  if (waiting_of_op_[static_cast<size_t>(op)] == 0) return since;
  for (const TicketQueue& queue : queues_) {
    if (queue.op != op || queue.size() == 0) continue;
    since = std::min(since, (queue.rescue.first != nullptr ? queue.rescue.first : queue.waiting.first)->place.since);
  }
  return since;
}

/// Handshakes under way are finished first: decaps before encaps before keygen, but nothing that has waited for less
/// than kMostAhead before what has waited longer.
BatchSlot* BatcherCore::next_batch(Clock::time_point now) {
  if (held_ > 0 && !closing_) return nullptr;
  std::array order{Op::decaps, Op::encaps, Op::keygen};
  std::ranges::stable_sort(order, std::greater(), [&](Op op) { return (now - waits_since(op, now)) / kMostAhead; });
  for (const Op op : order) {
    uint32_t queue = 0;
    LaneState* const lane = find_queue(op, now, queue);
    if (lane == nullptr) continue;
    BatchSlot* const slot = take_slot();
    if (slot == nullptr || fill(*slot, *lane, queue, now)) return slot;
    free_slots_.push_back(slot);
    return next_batch(now);  // all of them had results by now; they are gone
  }
  return nullptr;
}

/// The queue of the operation whose first ticket has waited longest, of those that a lane takes now.
LaneState* BatcherCore::find_queue(Op op, Clock::time_point now, uint32_t& found) {
  if (waiting_of_op_[static_cast<size_t>(op)] == 0) return nullptr;
  LaneState* best = nullptr;
  Clock::time_point oldest{};
  for (uint32_t i = 0; i < queues_.size(); ++i) {
    TicketQueue& queue = queues_[i];
    if (queue.op != op || queue.size() == 0 || lingers(queue, now)) continue;
    const Ticket* const first = queue.rescue.first != nullptr ? queue.rescue.first : queue.waiting.first;
    if (best != nullptr && first->place.since >= oldest) continue;
    LaneState* const lane = choose_lane(i, now);
    if (lane == nullptr) continue;
    best = lane;
    oldest = first->place.since;
    found = i;
  }
  return best;
}

bool BatcherCore::lingers(TicketQueue& queue, Clock::time_point now) {
  if (config_.linger.count() == 0 || closing_ || queue.rescue.size > 0) return false;
  const Clock::time_point due = queue.waiting.first->place.since + config_.linger;
  if (queue.waiting.size >= config_.batch_items || due <= now || !start_monitor()) return false;
  if (!linger_until_ || due < *linger_until_) {
    linger_until_ = due;
    wake_monitor();
  }
  return true;
}

/// nullptr: every lane that could compute it is busy.
LaneState* BatcherCore::choose_lane(uint32_t index, Clock::time_point now) {
  TicketQueue& queue = queues_[index];
  LaneState& cpu = lanes_.front();
  const bool high = in_flight_ >= config_.high_water;
  const size_t items = queue.waiting.size;
  bool forced_busy = false;
  LaneState* best = nullptr;
  Clock::duration soonest = time_for(cpu, index, queue.size(), now);
  for (LaneState& lane : lanes_) {
    if (lane.cpu || items == 0 || high || !lane.takes(index)) continue;
    if (!lane.idle()) {
      forced_busy |= lane.forced && !lane.all_late();
    } else if (lane.forced) {
      return &lane;
    } else {
      const Clock::duration time = time_for(lane, index, items, now);
      if (time >= soonest && !(best == nullptr && is_loaded(now) && cheaper(lane, index))) continue;
      best = &lane;
      soonest = time;
    }
  }
  if (best != nullptr) return best;
  if (!cpu.idle() || (forced_busy && queue.rescue.size == 0) || items_allowed(cpu, index) == 0) return nullptr;
  return &cpu;
}

/// How many items a batch on the lane may have now; 0: it has to wait for one in flight.
size_t BatcherCore::items_allowed(const LaneState& lane, uint32_t index) const {
  const TicketQueue& queue = queues_[index];
  const ServiceTime& service = lane.known[index].service;
  if (!lane.cpu) {
    if (!service.known()) return 1;
    // Two batches in flight are done in half the deadline; where one item alone takes most of that, more of them in a
    // batch make it no later than more batches.
    const Clock::duration most = std::max<Clock::duration>(config_.deadline / 4, service.of(1) * 3 / 2);
    return std::min(service.items_to_try(most), config_.batch_items);
  }
  const RecordBytes bytes = queue.scheme->record_bytes(queue.op);
  const size_t most_items =
      std::clamp<size_t>(kMostBytesOnCpu / (bytes.pk + bytes.sk + bytes.ct), 1, config_.batch_items);
  if (queue.op == Op::decaps) return most_items;
  Clock::duration left = kMostAhead;
  for (const BatchSlot* slot : lane.in_flight)
    if (queues_[slot->queue].op != Op::decaps) left -= slot->expected;
  if (left <= left.zero()) return 0;
  const bool first = left == kMostAhead;
  const Clock::duration one = service_of(lane, index, 1);
  if (one == one.zero()) return first ? std::min(kUnmeasuredItems, most_items) : 0;
  if (!first && one > left) return 0;
  const Clock::duration most = std::min<Clock::duration>(left, kMostAhead / 2);
  const size_t fit = service.known() ? service.items_in(most) : static_cast<size_t>(most / one) * engine_.threads();
  return std::clamp<size_t>(fit, 1, most_items);
}

unsigned BatcherCore::cpu_width(const TicketQueue& queue, size_t items) const {
  const size_t granule = std::max<size_t>(engine_.cpu_backend_for(*queue.scheme)->op(queue.op).granule, 1);
  return static_cast<unsigned>(std::min<size_t>(divided_up(items, granule), engine_.threads()));
}

BatchSlot* BatcherCore::take_slot() {
  slots_short_ = free_slots_.empty();
  if (slots_short_) return nullptr;
  BatchSlot* const slot = free_slots_.back();
  free_slots_.pop_back();
  return slot;
}

/// Moves tickets into the batch; false if there were none without a result. The CPU takes first what others failed to
/// compute.
bool BatcherCore::fill(BatchSlot& slot, LaneState& lane, uint32_t index, Clock::time_point now) {
  TicketQueue& queue = queues_[index];
  const size_t most = items_allowed(lane, index);
  const bool spills =
      lane.cpu && in_flight_ >= config_.high_water &&
      std::ranges::any_of(lanes_, [index](const LaneState& other) { return !other.cpu && other.takes(index); });
  while (slot.tickets.size() < most && queue.size() > 0) {
    const bool rescued = lane.cpu && queue.rescue.size > 0;
    TicketList& list = rescued ? queue.rescue : queue.waiting;
    Ticket* const ticket = list.first;
    if (ticket == nullptr) break;
    list.remove(ticket);
    ticket->place.in = ticket->place.nowhere;
    --waiting_of_op_[static_cast<size_t>(queue.op)];
    if (ticket->claimed()) {
      ticket->release();
      continue;
    }
    const uint64_t waited = microseconds(now - ticket->place.since);
    ++queue.stats.wait_us[bucket_of(waited, queue.stats.wait_us.size())];
    queue.stats.wait_us_sum += waited;
    queue.stats.spilled += spills && !rescued ? 1 : 0;
    slot.tickets.push_back(ticket);
  }
  if (slot.tickets.empty()) return false;
  slot.width = lane.cpu ? cpu_width(queue, slot.tickets.size()) : 1;
  launch(slot, lane, index, now);
  return true;
}

void BatcherCore::launch(BatchSlot& slot, LaneState& lane, uint32_t index, Clock::time_point now) {
  slot.lane = &lane;
  slot.queue = index;
  slot.pace = BatchSlot::Pace::in_time;
  slot.started = now;
  slot.expected = service_of(lane, index, slot.tickets.size());
  lane.ready_at = std::max(lane.ready_at, now) + slot.expected;
  lane.last_queue = index;
  lane.in_flight.push_back(&slot);
  if (!lane.cpu && now + config_.deadline < monitor_until_) wake_monitor();  // it sets its timer
}

/// Without a lock. What cannot start ends here; the caller looks for the next batch anyway.
void BatcherCore::start(BatchSlot* slot) {
  const bool cpu = slot->lane->cpu;
  Status status = Status::out_of_memory;
  if (slot->memory.gather(slot->tickets)) {
    status = slot->lane->lane->submit(slot->memory.request(), [this, slot](Status s) { on_done(slot, s); });
    if (status == Status::ok) return;
    if (cpu) status = engine_.run_here(slot->memory.request());
  }
  if (conclude(*slot, status)) deliver(*slot, status);
  recycle(slot);
}

/// On a thread of the lane. The next batch starts before this one's results are handed out.
void BatcherCore::on_done(BatchSlot* slot, Status status) {
  const std::shared_ptr<BatcherCore> self = shared_from_this();
  const bool useful = conclude(*slot, status);
  dispatch();
  if (useful) deliver(*slot, status);
  bool again = false;
  {
    const Lock lock(mutex_);
    again = slots_short_;
  }
  recycle(slot);
  if (again) dispatch();
}

/// False if the results must not be used; the CPU computes the tickets then.
bool BatcherCore::conclude(BatchSlot& slot, Status status) {
  const bool right = result_is_right(slot, status);
  const Lock lock(mutex_);
  settle(slot, status, right, Clock::now());
  return !slot.probe && (slot.lane->cpu || (ran(status) && right));
}

/// Compares a probe, and now and then an item of a batch, with what the CPU computes from the same inputs and coins.
bool BatcherCore::result_is_right(BatchSlot& slot, Status status) {
  if (slot.lane->cpu || !ran(status)) return true;
  if (slot.probe) {
    for (size_t i = 0; i < slot.tickets.size(); ++i)
      if (!slot.memory.equals(i, *slot.tickets[i])) return false;
    return true;
  }
  const uint64_t batch = device_batches_.fetch_add(1, std::memory_order_relaxed);
  if (batch % kRecheckEvery != 0) return true;
  const size_t chosen = batch / kRecheckEvery % slot.tickets.size();
  Ticket* const again = computed(slot.tickets[chosen]->inputs());
  const bool right = again == nullptr || slot.memory.equals(chosen, *again);
  if (again != nullptr) again->release();
  return right;
}

/// What the end of a batch says of its lane.
void BatcherCore::settle(BatchSlot& slot, Status status, bool right, Clock::time_point now) {
  LaneState& lane = *slot.lane;
  std::erase(lane.in_flight, &slot);
  if (lane.in_flight.empty()) lane.ready_at = now;
  const Clock::time_point begin = lane.cpu ? slot.started : std::max(slot.started, lane.last_finished);
  lane.last_finished = now;
  if (slot.probe) return settle_probe(slot, ran(status) && right, now - begin, now);
  TicketQueue& queue = queues_[slot.queue];
  ++queue.stats.batches;
  ++queue.stats.batch_items[bucket_of(slot.tickets.size(), queue.stats.batch_items.size())];
  queue.stats.batch_items_sum += slot.tickets.size();
  const uint64_t took = microseconds(now - slot.started);
  ++queue.stats.service_us[bucket_of(took, queue.stats.service_us.size())];
  queue.stats.service_us_sum += took;
  if (ran(status)) {
    lane.known[slot.queue].service.add(slot.tickets.size(), now - begin);
    lane.known[slot.queue].measured = now;
  }
  if (lane.cpu) return;
  if (!ran(status)) {
    lane.breaker.failed("batches failed in a row", now);
  } else if (!right) {
    lane.breaker.open("a result was wrong", now);
    lane.known[slot.queue].proof = LaneState::Proof::none;
  } else if (slot.pace == BatchSlot::Pace::in_time) {
    lane.breaker.succeeded();
  }
  if (!ran(status) || !right) rescue(slot);
  wake_prober();
}

/// The CPU computes what has no result yet.
void BatcherCore::rescue(BatchSlot& slot) {
  TicketQueue& queue = queues_[slot.queue];
  for (Ticket* ticket : slot.tickets) {
    if (ticket->claimed() || ticket->place.in != ticket->place.nowhere) continue;
    ticket->add_reference();
    ticket->place.in = ticket->place.rescue;
    queue.rescue.push_back(ticket);
    ++waiting_of_op_[static_cast<size_t>(queue.op)];
    ++queue.stats.rescued;
  }
}

/// Hands the results out; the first one counts. Counters come before results, so that nobody who has a result misses
/// it.
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
    failed += slot.memory.item_status(i) != Status::ok ? 1 : 0;
  }
  slot.memory.wipe();  // before anybody hears of it
  {
    const Lock lock(mutex_);
    TicketQueue& queue = queues_[slot.queue];
    queue.stats.failed += failed;
    queue.stats.*counter_of(slot.lane->lane->kind()) += finished;
    count_finished(queue, finished);
  }
  ++delivering;
  for (size_t i = 0; i < slot.tickets.size(); ++i)
    if (slot.tickets[i] != nullptr) slot.tickets[i]->finish(slot.memory.item_status(i), slot.tickets.size());
  --delivering;
}

void BatcherCore::recycle(BatchSlot* slot) {
  for (Ticket* ticket : slot->tickets)
    if (ticket != nullptr) ticket->release();
  slot->tickets.clear();
  slot->memory.wipe();
  slot->probe = false;
  const Lock lock(mutex_);
  free_slots_.push_back(slot);
  idle_.notify_all();
}

}  // namespace polykem
