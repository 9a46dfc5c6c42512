// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <vector>

#include "core/secure.hpp"
#include "engine/batcher/ticket.hpp"

namespace polykem {

class ExecutorState;
struct TicketQueue;

/// One batch: its tickets (a reference each), and the arrays that an executor reads and writes.
class BatchMemory {
 public:
  /// Takes memory for the statuses of the largest batch.
  void reserve(size_t items) { status_.reserve(items); }
  /// Copies the inputs side by side and takes memory for the outputs; false if there is not enough. The tickets are of
  /// one set, operation and form of secret keys.
  bool gather(const std::vector<Ticket*>& tickets);
  const Request& request() const { return request_; }
  Status item_status(size_t i) const { return status_[i]; }
  /// Gives every item the status; no item has outputs.
  void set_status(Status status) { std::fill(status_.begin(), status_.end(), status); }
  /// Copies the outputs of item i to a ticket. Where it has no memory, that is the item's status.
  void copy_out(size_t i, Ticket& to);
  /// True if item i has the outputs and the status of `ticket`.
  bool equals(size_t i, Ticket& ticket) const;
  void wipe();

 private:
  static constexpr size_t kKeptBytes = size_t{1} << 20;  ///< more than that is freed after the batch

  Request request_;
  ItemRecords item_{};
  SecureBuffer memory_;
  size_t used_ = 0;
  std::vector<Status> status_;
};

/// A batch on its way. Reused.
struct BatchSlot {
  std::vector<Ticket*> tickets;
  bool probe = false;  ///< the tickets were computed before; the executor must come to the same results
  BatchMemory memory;
  ExecutorState* executor = nullptr;
  TicketQueue* queue = nullptr;
  unsigned width = 1;  ///< threads of the CPU that it keeps busy
  /// late: its deadline is over, the CPU computes what it has; stalled: its executor has been given up for that.
  enum class Pace { kInTime, kLate, kStalled } pace = Pace::kInTime;
  Clock::duration expected{};
  Clock::time_point started{};
};

}  // namespace polykem
