// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <thread>

#include "core/secure.hpp"
#include "engine/batcher/estimates.hpp"
#include "engine/request.hpp"

namespace polykem {

class BatcherCore;

/// One added operation: copies of its inputs and coins and, once it has been computed, its outputs. Of a message it
/// keeps mu, so that messages of all lengths and kinds share batches. Zeroized with the last reference.
class Ticket {
 public:
  using Callback = void (*)(void* user);

  /// Copies the inputs of a valid request of one item; nullptr if there is no memory. The caller gets the only
  /// reference. If the request has no coins, they are zero until coins() is filled.
  static Ticket* create(const Request& request) noexcept;

  void add_reference() { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept;

  const Scheme& scheme() const { return *scheme_; }
  Op op() const { return op_; }
  /// A request of its inputs, without outputs.
  Request inputs() const;
  /// A request with its outputs, which the caller has claimed and reserved.
  Request request() const;
  /// Allocates the outputs. Not done earlier, because thousands of tickets may wait. False if there is no memory.
  [[nodiscard]] bool reserve_outputs();
  const ItemRecords& item() const { return item_; }
  std::span<uint8_t> coins() { return {const_cast<uint8_t*>(arrays_.coins), item_.coin_bytes()}; }

  bool finished() const { return state_.load(std::memory_order_acquire) == kDone; }
  /// Status::kBusy until it is finished.
  Status poll() const { return finished() ? status_ : Status::kBusy; }
  /// Waits for the result. Status::kArgument where that would take forever: in a forked child of the process that added
  /// it.
  Status wait();
  /// Copies the outputs; zeros if the operation failed.
  Status take(uint8_t* public_out, uint8_t* secret_out);
  /// True in a forked child of the process that added it.
  bool is_foreign() const;

  /// Returns true to the first caller only, which then writes the outputs and calls finish().
  bool claim() {
    int pending = kPending;
    return state_.compare_exchange_strong(pending, kClaimed, std::memory_order_acq_rel);
  }
  bool claimed() const { return state_.load(std::memory_order_acquire) != kPending; }
  /// Publishes the result. items: the size of the batch.
  void finish(Status status, size_t items) noexcept;
  size_t batch_items() const { return finished() ? batch_items_ : 0; }

  /// Sets the callback for finish(). If the ticket has already finished, it is not called.
  void arm(Callback done, void* user) noexcept;
  /// Afterwards the callback neither runs nor will run, unless this is called from within it.
  void disarm() noexcept;

  /// The links of the ticket in a TicketQueue, guarded by the batcher's lock.
  struct QueueNode {
    enum List { kNowhere, kWaiting, kRescue };

    std::shared_ptr<BatcherCore> core;
    Ticket *next = nullptr, *previous = nullptr;
    List in = kNowhere;  ///< the list that contains it
    uint32_t queue = 0;  ///< TicketQueue::index
    Clock::time_point since{};
  } node;

 private:
  enum { kPending, kClaimed, kDone };
  enum { kUnarmed, kArmed, kRunning, kOver };

  explicit Ticket(const Request& request, size_t data_bytes);
  void take_message(const Request& request, uint8_t* mu);
  ~Ticket() = default;
  uint8_t* data() { return reinterpret_cast<uint8_t*>(this + 1); }

  const Scheme* const scheme_;
  const Op op_;
  const bool sk_is_seed_;
  const ItemRecords item_;
  BatchView arrays_;
  SecureBuffer outputs_;
  const size_t data_bytes_;
  const uint64_t process_;
  std::atomic<int> references_{1};
  std::atomic<int> state_{kPending};
  Status status_ = Status::kBusy;
  size_t batch_items_ = 0;
  Callback done_ = nullptr;
  void* user_ = nullptr;
  std::atomic<int> callback_{kUnarmed};
  std::atomic<std::thread::id> runner_{};
};

}  // namespace polykem
