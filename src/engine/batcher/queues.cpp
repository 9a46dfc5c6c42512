// SPDX-License-Identifier: Apache-2.0
#include "engine/batcher/queues.hpp"

#include <algorithm>
#include <bit>
#include <functional>

#include "schemes/registry.hpp"

namespace polykem {

namespace {

constexpr size_t kQueuesOfSet = kOpsPerSet + 1;  // the last one is for decaps with seeds; signature sets do not use it
constexpr std::array<Op, kQueuesOfSet> kKemOps{Op::kKeygen, Op::kEncaps, Op::kDecaps, Op::kDecaps};
constexpr std::array<Op, kQueuesOfSet> kSignatureOps{Op::kKeygen, Op::kSign, Op::kVerify, Op::kVerify};

/// All KEM sets, then all signature sets.
std::vector<const Scheme*> all_sets() {
  std::vector<const Scheme*> sets(registry().begin(), registry().end());
  sets.insert(sets.end(), signature_registry().begin(), signature_registry().end());
  return sets;
}

size_t index_of_set(const Scheme& scheme) {
  const auto sets = scheme.is_signature() ? signature_registry() : registry();
  const auto index = static_cast<size_t>(std::ranges::find(sets, &scheme) - sets.begin());
  return scheme.is_signature() ? registry().size() + index : index;
}

static_assert(kSignatureOps[index_of_op(Op::kSign)] == Op::kSign && kKemOps[index_of_op(Op::kDecaps)] == Op::kDecaps);
static_assert(kSignatureOps[static_cast<size_t>(Op::kVerify) - 2] == Op::kVerify);

/// Counts a value in a histogram of BatcherStats.
template <size_t kBuckets>
void count(uint64_t value, std::array<uint64_t, kBuckets>& histogram, uint64_t& sum) {
  ++histogram[std::min<size_t>(static_cast<size_t>(std::bit_width(value | 1)) - 1, kBuckets - 1)];
  sum += value;
}

uint64_t microseconds(Clock::duration time) {
  return static_cast<uint64_t>(
      std::max<Clock::rep>(std::chrono::duration_cast<std::chrono::microseconds>(time).count(), 0));
}

}  // namespace

TicketQueues::TicketQueues(const Engine& engine, const BatcherConfig& config) : config_(config) {
  const std::vector<const Scheme*> sets = all_sets();
  stats_.resize(sets.size() * kOpsPerSet);
  queues_.resize(sets.size() * kQueuesOfSet);
  for (uint32_t i = 0; i < queues_.size(); ++i) {
    const size_t set = i / kQueuesOfSet, number = i % kQueuesOfSet;
    TicketQueue& queue = queues_[i];
    queue.index = i;
    queue.scheme = sets[set];
    queue.op = (queue.scheme->is_signature() ? kSignatureOps : kKemOps)[number];
    queue.sk_is_seed = number == kOpsPerSet;
    queue.stats = &stats_[set * kOpsPerSet + index_of_op(queue.op)];
    if (const SchemeBackend* const backend = engine.cpu_backend_for(*queue.scheme); backend != nullptr)
      queue.items_per_vector = std::max<size_t>(backend->op(queue.op).items_per_vector, 1);
  }
}

uint32_t TicketQueues::index_of(const Scheme& scheme, Op op, bool sk_is_seed) {
  return static_cast<uint32_t>(index_of_set(scheme) * kQueuesOfSet + (sk_is_seed ? kOpsPerSet : index_of_op(op)));
}

const BatcherStats& TicketQueues::stats(const Scheme& scheme, Op op) const {
  return stats_[index_of_set(scheme) * kOpsPerSet + index_of_op(op)];
}

bool TicketQueues::admit(TicketQueue& queue) {
  if (in_flight_ >= config_.hard_limit || closed_) {
    ++queue.stats->refused;
    return false;
  }
  ++in_flight_;
  ++queue.stats->in_flight;
  return true;
}

void TicketQueues::leave(TicketQueue& queue, size_t operations) {
  in_flight_ -= operations;
  queue.stats->in_flight -= operations;
}

void TicketQueues::count_batch(TicketQueue& queue, size_t items, Clock::duration took) {
  BatcherStats& stats = *queue.stats;
  ++stats.batches;
  count(items, stats.batch_items, stats.batch_items_sum);
  count(microseconds(took), stats.service_us, stats.service_us_sum);
}

void TicketQueues::link(TicketQueue& queue, Ticket* ticket, List in) {
  TicketList& list = in == Ticket::QueueNode::kWaiting ? queue.waiting : queue.rescue;
  ticket->node.in = in;
  ticket->node.previous = list.last;
  (list.last == nullptr ? list.first : list.last->node.next) = ticket;
  list.last = ticket;
  ++list.size;
  ++waiting_of_op_[static_cast<size_t>(queue.op)];
  ++queue.stats->waiting;
}

void TicketQueues::unlink(TicketQueue& queue, Ticket* ticket) {
  auto& node = ticket->node;
  TicketList& list = node.in == Ticket::QueueNode::kWaiting ? queue.waiting : queue.rescue;
  (node.previous == nullptr ? list.first : node.previous->node.next) = node.next;
  (node.next == nullptr ? list.last : node.next->node.previous) = node.previous;
  node.next = node.previous = nullptr;
  node.in = Ticket::QueueNode::kNowhere;
  --list.size;
  --waiting_of_op_[static_cast<size_t>(queue.op)];
  --queue.stats->waiting;
}

void TicketQueues::push(TicketQueue& queue, Ticket* ticket, Clock::time_point now) {
  ticket->add_reference();
  ticket->node.queue = queue.index;
  ticket->node.since = now;
  link(queue, ticket, Ticket::QueueNode::kWaiting);
}

bool TicketQueues::remove(Ticket* ticket) {
  if (ticket->node.in == Ticket::QueueNode::kNowhere) return false;
  TicketQueue& queue = queues_[ticket->node.queue];
  unlink(queue, ticket);
  if (ticket->claim()) {
    ++queue.stats->abandoned;
    leave(queue, 1);
  }
  return true;
}

size_t TicketQueues::take(TicketQueue& queue, bool rescue, size_t max_items, Clock::time_point now,
                          std::vector<Ticket*>& batch) {
  size_t fresh = 0;
  while (batch.size() < max_items) {
    const bool rescued = rescue && queue.rescue.size > 0;
    Ticket* const ticket = rescued ? queue.rescue.first : queue.waiting.first;
    if (ticket == nullptr) break;
    unlink(queue, ticket);
    if (ticket->claimed()) {
      ticket->release();
      continue;
    }
    count(microseconds(now - ticket->node.since), queue.stats->wait_us, queue.stats->wait_us_sum);
    fresh += rescued ? 0 : 1;
    batch.push_back(ticket);
  }
  return fresh;
}

void TicketQueues::rescue(TicketQueue& queue, const std::vector<Ticket*>& batch) {
  for (Ticket* ticket : batch) {
    if (ticket->claimed() || ticket->node.in != Ticket::QueueNode::kNowhere) continue;
    ticket->add_reference();
    link(queue, ticket, Ticket::QueueNode::kRescue);
    ++queue.stats->rescued;
  }
}

/// The time at which the first waiting ticket of the operation began to wait; `now` if none waits.
Clock::time_point TicketQueues::waits_since(Op op, Clock::time_point now) const {
  Clock::time_point since = now;
  if (waiting_of_op_[static_cast<size_t>(op)] == 0) return since;
  for (const TicketQueue& queue : queues_)
    if (queue.op == op && queue.size() > 0) since = std::min(since, queue.since());
  return since;
}

std::array<Op, kOpCount> TicketQueues::order(Clock::time_point now) const {
  std::array order{Op::kDecaps, Op::kSign, Op::kVerify, Op::kEncaps, Op::kKeygen};
  std::ranges::stable_sort(order, std::greater(), [&](Op op) { return (now - waits_since(op, now)) / kMaxAhead; });
  return order;
}

std::optional<Clock::time_point> TicketQueues::lingers_until(const TicketQueue& queue, Clock::time_point now) const {
  if (config_.linger.count() == 0 || closed_ || queue.rescue.size > 0) return {};
  const Clock::time_point due = queue.waiting.first->node.since + config_.linger;
  if (queue.waiting.size >= config_.batch_items || due <= now) return {};
  return due;
}

}  // namespace polykem
