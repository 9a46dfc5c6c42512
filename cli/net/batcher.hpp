// SPDX-License-Identifier: Apache-2.0
// Collects single KEM operations and passes them to the library in batches: a batch is everything that waits.
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <polykem/polykem.hpp>

#include "net/frame.hpp"
#include "net/handler_memory.hpp"
#include "net/service_times.hpp"
#include "net/stats.hpp"

namespace polykem::cli::net {

/** The inputs of one item. Members that the operation does not use are empty. */
struct KemInput {
  ByteView public_key;  // encaps
  ByteView secret_key;  // decaps
  ByteView ciphertext;  // decaps
};

/** The outputs of one item, valid during the call. Members that the operation does not produce are empty. */
struct KemOutput {
  ByteView public_key;     // keygen
  ByteView secret_key;     // keygen
  ByteView ciphertext;     // encaps
  ByteView shared_secret;  // encaps, decaps
};

/** Something that needs one operation computed. */
class KemUser {
 public:
  virtual ~KemUser() = default;
  /** false if nobody needs the result any more; the item is then dropped. Asked before every batch. */
  virtual bool kem_wanted() const = 0;
  /** Called when the batch is put together. */
  virtual KemInput kem_input(polykem_op op) const = 0;
  /** status: of this item. On anything but POLYKEM_OK the outputs are empty. Does not throw. */
  virtual void kem_done(polykem_op op, polykem_status status, const KemOutput& out) = 0;
};

struct BatchPolicy {
  std::size_t cap = 1024;               // items in one batch at most
  std::chrono::microseconds linger{0};  // how long a batch that is not full waits for more items
};

/** A queue for each operation. Handshakes under way are finished first: decaps outranks encaps, encaps outranks keygen,
 * and a lower queue never starts a batch while a higher one could. Whenever a thread of the library is free, the
 * waiting items start as a batch; there are never more batches in flight than threads. By the measured service times,
 * encaps and keygen in flight take at most kMostAhead, so a decapsulation waits no longer than that for them. Items
 * that are no longer wanted are dropped before they are computed. Lives on the loop's thread; the library's threads
 * only post back to it. */
class KemBatcher {
 public:
  /** The most time that encaps and keygen in flight may take; one batch may take half of it. A single item may take
   * longer. */
  static constexpr std::chrono::milliseconds kMostAhead{40};

  KemBatcher(asio::io_context& loop, const Context& context, const Scheme& scheme, BatchPolicy policy);
  /** Waits for the batches that run; their items are not called back. The loop must not run afterwards. */
  ~KemBatcher();
  KemBatcher(const KemBatcher&) = delete;
  KemBatcher& operator=(const KemBatcher&) = delete;

  /** Throws std::bad_alloc; the item is then not added. */
  void add(polykem_op op, std::shared_ptr<KemUser> user);
  /** Starts what waits, after a handler of the loop has thrown std::bad_alloc. */
  void resume() { schedule_dispatch(1); }

  /** Items in the queue, including unwanted items that have not been removed yet. */
  std::size_t waiting(polykem_op op) const { return queues_[op].items.size(); }
  const BatchStats& stats() const { return stats_; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kOps = 3;

  struct Waiting {
    std::shared_ptr<KemUser> user;
    Clock::time_point since;
  };
  struct Queue {
    std::deque<Waiting> items;
    std::size_t sweep_at = 0;  // at this size, unwanted items are removed
  };
  struct Batch;

  void drop_unwanted(Queue& queue);
  std::optional<polykem_op> next_op();
  std::size_t items_allowed(polykem_op op) const;
  void schedule_dispatch(int turns);
  void dispatch();
  bool start_batch(polykem_op op);
  void submit(Batch& batch);
  void wait_for_more(Clock::time_point until);
  void on_batch_done(Batch* batch, polykem_status status);
  static void on_library_thread(void* user, polykem_status status);

  asio::io_context& loop_;
  const Context& context_;
  Scheme scheme_;
  BatchPolicy policy_;
  std::array<Queue, kOps> queues_;
  std::vector<std::unique_ptr<Batch>> in_flight_;
  ServiceTimes times_;
  asio::steady_timer linger_timer_;
  bool lingering_ = false;
  bool dispatch_posted_ = false;
  HandlerMemory dispatch_memory_;
  Clock::time_point busy_since_{};
  BatchStats stats_;

  std::mutex callbacks_mutex_;  // guards callbacks_due_: batches whose callback has not returned yet
  std::condition_variable callbacks_done_;
  std::size_t callbacks_due_ = 0;
};

}  // namespace polykem::cli::net
