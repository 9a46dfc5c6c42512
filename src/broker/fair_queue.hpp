// SPDX-License-Identifier: Apache-2.0
// The order in which clients are served: fair shares of time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace polykem::broker {

/// Clients that wait for their turn, by start-time fair queueing: next is the client that has used the least computing
/// time. A client that returns starts at the time of the client served last, so that idling earns no credit. Not
/// thread-safe.
class FairQueue {
 public:
  /// The computing time that one client has used, its virtual time in the queue. The client's owner keeps it.
  struct Share {
    uint64_t used_ns = 0;
    bool waits = false;  ///< in the queue
  };

  /// Until more than `clients` clients are in the queue, push() allocates nothing.
  void reserve(size_t clients) { waiting_.reserve(clients); }
  bool empty() const { return waiting_.empty(); }
  size_t size() const { return waiting_.size(); }

  /// Adds a client that has work, unless it is in the queue.
  void push(uint64_t id, Share& share) {
    if (share.waits) return;
    share.used_ns = std::max(share.used_ns, now_ns_);
    waiting_.push_back({share.used_ns, next_++, id});
    std::push_heap(waiting_.begin(), waiting_.end());
    share.waits = true;
  }
  /// Removes and returns the next client. The caller clears share.waits and adds the cost of the turn to the share.
  std::optional<uint64_t> pop() {
    if (waiting_.empty()) return std::nullopt;
    std::pop_heap(waiting_.begin(), waiting_.end());
    const Entry next = waiting_.back();
    waiting_.pop_back();
    now_ns_ = next.used_ns;
    return next.id;
  }
  void remove(uint64_t id) {
    if (std::erase_if(waiting_, [id](const Entry& each) { return each.id == id; }) != 0)
      std::make_heap(waiting_.begin(), waiting_.end());
  }

 private:
  struct Entry {
    uint64_t used_ns, order, id;
    /// Orders the heap: next is the client with the least time and, among equals, the one that has waited longest.
    bool operator<(const Entry& other) const {
      return used_ns != other.used_ns ? used_ns > other.used_ns : order > other.order;
    }
  };

  std::vector<Entry> waiting_;
  uint64_t now_ns_ = 0;  ///< the time of the client that was served last
  uint64_t next_ = 0;
};

}  // namespace polykem::broker
