// SPDX-License-Identifier: Apache-2.0
// The waiting operations of a batcher: their order, how long they wait, and how many may be in flight.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "engine/batcher/batcher.hpp"

namespace polykem {

/// The longest that queued encapsulations and key generations may delay a decapsulation on the CPU. One batch of them
/// may take at most half of it. A single operation that takes longer still runs.
constexpr Clock::duration kMaxAhead = std::chrono::milliseconds(40);

/// A list of tickets, linked through Ticket::node.
struct TicketList {
  Ticket *first = nullptr, *last = nullptr;
  size_t size = 0;
};

/// Operations of one set that may share a batch. A set has a queue for each of its operations, and one for decaps with
/// secret keys given as seeds.
struct TicketQueue {
  uint32_t index = 0;
  const Scheme* scheme = nullptr;
  Op op = Op::kKeygen;
  bool sk_is_seed = false;
  size_t items_per_vector = 1;    ///< the number of items that fills the CPU's registers
  BatcherStats* stats = nullptr;  ///< shared by the queues of one operation
  TicketList waiting, rescue;     ///< rescue: what an executor failed to compute, for the CPU alone
  ServiceTime single;             ///< the time of an operation on its caller's thread

  size_t size() const { return waiting.size + rescue.size; }
  /// The time at which its first ticket began to wait.
  Clock::time_point since() const { return (rescue.first != nullptr ? rescue.first : waiting.first)->node.since; }
};

/// The queues of all sets. Not thread-safe.
class TicketQueues {
 public:
  TicketQueues(const Engine& engine, const BatcherConfig& config);

  static uint32_t index_of(const Scheme& scheme, Op op, bool sk_is_seed);
  TicketQueue& operator[](uint32_t index) { return queues_[index]; }
  size_t size() const { return queues_.size(); }
  const BatcherStats& stats(const Scheme& scheme, Op op) const;

  /// Counts an operation as in flight until leave(); false if there are too many.
  bool admit(TicketQueue& queue);
  void leave(TicketQueue& queue, size_t operations);
  size_t in_flight() const { return in_flight_; }
  static void count_batch(TicketQueue& queue, size_t items, Clock::duration took);
  void close() { closed_ = true; }
  bool closed() const { return closed_; }
  void hold() { ++held_; }
  /// True if no hold is left.
  bool release() { return held_ > 0 && --held_ == 0; }
  bool held() const { return held_ > 0 && !closed_; }

  void push(TicketQueue& queue, Ticket* ticket, Clock::time_point now);
  /// Returns false if the ticket no longer waits.
  bool remove(Ticket* ticket);
  /// Moves at most `max_items` tickets without results into an empty batch. rescue: tickets that other executors failed
  /// to compute come first; otherwise they are left. Returns how many of the tickets no executor has had before.
  size_t take(TicketQueue& queue, bool rescue, size_t max_items, Clock::time_point now, std::vector<Ticket*>& batch);
  /// Makes tickets without a result wait again, for the CPU.
  void rescue(TicketQueue& queue, const std::vector<Ticket*>& batch);

  /// The order in which operations are served: what finishes handshakes first, that is decaps, then signatures, encaps
  /// and keygen. But an operation that has waited kMaxAhead longer comes first.
  std::array<Op, kOpCount> order(Clock::time_point now) const;
  /// Returns the queue whose first ticket has waited longest, of the operation's queues for which `starts` holds;
  /// nullptr if there is none.
  template <class Starts>
  TicketQueue* oldest(Op op, Starts&& starts);
  /// The time until which a batch is held back because it may still grow; none if it may start now.
  std::optional<Clock::time_point> lingers_until(const TicketQueue& queue, Clock::time_point now) const;

 private:
  using List = Ticket::QueueNode::List;

  Clock::time_point waits_since(Op op, Clock::time_point now) const;
  void link(TicketQueue& queue, Ticket* ticket, List in);
  void unlink(TicketQueue& queue, Ticket* ticket);

  const BatcherConfig& config_;
  std::vector<BatcherStats> stats_;
  std::vector<TicketQueue> queues_;
  std::array<size_t, kOpCount> waiting_of_op_{};
  size_t in_flight_ = 0;  ///< operations in flight
  unsigned held_ = 0;     ///< calls of hold() without release()
  bool closed_ = false;   ///< no operation is admitted
};

template <class Starts>
TicketQueue* TicketQueues::oldest(Op op, Starts&& starts) {
  TicketQueue* best = nullptr;
  if (waiting_of_op_[static_cast<size_t>(op)] == 0) return best;
  for (TicketQueue& queue : queues_) {
    if (queue.op != op || queue.size() == 0 || (best != nullptr && queue.since() >= best->since())) continue;
    if (starts(queue)) best = &queue;
  }
  return best;
}

}  // namespace polykem
