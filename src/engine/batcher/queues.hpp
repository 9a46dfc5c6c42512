// SPDX-License-Identifier: Apache-2.0
// What waits in the batcher: in which order, for how long, and how much may be under way.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "engine/batcher/batcher.hpp"

namespace polykem {

/// Upper bound on how long queued encapsulations and key generations may delay a decapsulation on the CPU. One batch of
/// them may use at most half. A single operation that takes longer than the bound still runs.
constexpr Clock::duration kMaxAhead = std::chrono::milliseconds(40);

/// Tickets in order, linked through Ticket::place.
struct TicketList {
  Ticket *first = nullptr, *last = nullptr;
  size_t size = 0;
};

/// The operations of one set that may share a batch: kinds are those of Op that it has, and decaps of secret keys in
/// their form as seeds.
struct TicketQueue {
  uint32_t index = 0;
  const Scheme* scheme = nullptr;
  Op op = Op::kKeygen;
  bool sk_is_seed = false;
  size_t granule = 1;             ///< the number of items that fills the CPU's registers
  BatcherStats* stats = nullptr;  ///< of the set and operation
  TicketList waiting, rescue;     ///< rescue: what an executor failed to compute; for the CPU only
  ServiceTime single;             ///< an operation on its caller's thread

  size_t size() const { return waiting.size + rescue.size; }
  /// Since when its first ticket waits.
  Clock::time_point since() const { return (rescue.first != nullptr ? rescue.first : waiting.first)->place.since; }
};

/// The queues of all sets. Not thread-safe.
class TicketQueues {
 public:
  TicketQueues(const Engine& engine, const BatcherConfig& config);

  static uint32_t index_of(const Scheme& scheme, Op op, bool sk_is_seed);
  TicketQueue& operator[](uint32_t index) { return queues_[index]; }
  size_t size() const { return queues_.size(); }
  const BatcherStats& stats(const Scheme& scheme, Op op) const;

  /// Counts an operation as in flight until it leaves; false if there are too many.
  bool admit(TicketQueue& queue);
  void leave(TicketQueue& queue, size_t operations);
  size_t in_flight() const { return in_flight_; }
  static void count_batch(TicketQueue& queue, size_t items, Clock::duration took);
  void close() { closed_ = true; }
  bool closed() const { return closed_; }
  void hold() { ++held_; }
  /// True if the last hold is over.
  bool release() { return held_ > 0 && --held_ == 0; }
  bool held() const { return held_ > 0 && !closed_; }

  void push(TicketQueue& queue, Ticket* ticket, Clock::time_point now);
  /// False if it does not wait any more.
  bool remove(Ticket* ticket);
  /// Moves at most so many tickets without results into an empty batch. rescue: also, and first, what other executors
  /// failed to compute. Returns how many of them no executor has had before.
  size_t take(TicketQueue& queue, bool rescue, size_t most, Clock::time_point now, std::vector<Ticket*>& batch);
  /// What has no result yet waits again, for the CPU.
  void rescue(TicketQueue& queue, const std::vector<Ticket*>& batch);

  /// Handshakes under way are finished first: decaps, then signatures, encaps and keygen, but nothing that has waited
  /// for less than kMaxAhead before what has waited longer.
  std::array<Op, kAllOps> order(Clock::time_point now) const;
  /// The queue of the operation whose first ticket has waited longest, of those for which `starts` holds; nullptr:
  /// none.
  template <class Starts>
  TicketQueue* oldest(Op op, Starts&& starts);
  /// Until when a batch of what waits is kept back because it may still grow.
  std::optional<Clock::time_point> lingers_until(const TicketQueue& queue, Clock::time_point now) const;

 private:
  using In = decltype(Ticket::place.in);

  Clock::time_point waits_since(Op op, Clock::time_point now) const;
  void link(TicketQueue& queue, Ticket* ticket, In in);
  void unlink(TicketQueue& queue, Ticket* ticket);

  const BatcherConfig& config_;
  std::vector<BatcherStats> stats_;
  std::vector<TicketQueue> queues_;
  std::array<size_t, kAllOps> waiting_of_op_{};
  size_t in_flight_ = 0;  ///< operations
  unsigned held_ = 0;     ///< calls of hold() without release()
  bool closed_ = false;   ///< nothing more is taken
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
