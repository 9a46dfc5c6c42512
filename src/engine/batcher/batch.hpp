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
  /// Allocates the statuses of the largest batch.
  void reserve(size_t items) { status_.reserve(items); }
  /// Copies the inputs into contiguous arrays and allocates the outputs; false if there is not enough memory. All
  /// tickets have the same set, operation and form of secret keys.
  bool gather(const std::vector<Ticket*>& tickets);
  const Request& request() const { return request_; }
  Status item_status(size_t i) const { return status_[i]; }
  /// Sets every item's status; no item has outputs.
  void set_status(Status status) { std::fill(status_.begin(), status_.end(), status); }
  /// Copies the outputs of item i to a ticket. If the ticket cannot allocate them, the item's status says so.
  void copy_out(size_t i, Ticket& to);
  /// True if item i has the outputs and the status of `ticket`.
  bool equals(size_t i, Ticket& ticket) const;
  void zeroize();

 private:
  static constexpr size_t kKeptBytes = size_t{1} << 20;  ///< larger buffers are freed after the batch

  Request request_;
  ItemRecords item_{};
  SecureBuffer memory_;
  size_t used_ = 0;
  std::vector<Status> status_;
};

/// A batch in flight. The objects are reused, and keep their memory.
struct InFlightBatch {
  std::vector<Ticket*> tickets;
  bool probe = false;  ///< the tickets have results, which the executor must reproduce
  BatchMemory memory;
  ExecutorState* executor = nullptr;
  TicketQueue* queue = nullptr;
  unsigned width = 1;  ///< CPU threads that it keeps busy
  /// late: it missed its deadline, so the CPU computes its tickets too; stalled: its executor has been given up on.
  enum class Pace { kInTime, kLate, kStalled } pace = Pace::kInTime;
  Clock::duration expected{};
  Clock::time_point started{};
};

}  // namespace polykem
