// SPDX-License-Identifier: Apache-2.0
// Collects single KEM operations and hands them to the library as batches: a batch is whatever waits.
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
#include "net/stats.hpp"

namespace polykem::cli::net {

/** One record's inputs: what the operation does not use stays empty. */
struct KemInput {
  ByteView public_key;  // encaps
  ByteView secret_key;  // decaps
  ByteView ciphertext;  // decaps
};

/** One record's outputs, valid during the call: what the operation does not make is empty. */
struct KemOutput {
  ByteView public_key;     // keygen
  ByteView secret_key;     // keygen
  ByteView ciphertext;     // encaps
  ByteView shared_secret;  // encaps, decaps
};

/** Someone who wants one operation done. */
class KemUser {
 public:
  virtual ~KemUser() = default;
  /** false if the result would be thrown away; the item is then left out of the batch. */
  virtual bool kem_wanted() const = 0;
  /** Called when the batch is put together. */
  virtual KemInput kem_input(polykem_op op) const = 0;
  /** status: of this item. On anything but POLYKEM_OK the outputs are empty. */
  virtual void kem_done(polykem_op op, polykem_status status, const KemOutput& out) = 0;
};

struct BatchPolicy {
  std::size_t cap = 1024;               // items in one batch at most
  std::chrono::microseconds linger{0};  // how long a batch that is not full waits for company
};

/** Never idle while something waits: if no batch runs, what waits leaves at once; if one runs, a second joins it once
 * kWorthASecond items wait, so that a fast library does not dissolve the crowd into batches of one. Decaps goes before
 * encaps before keygen. Lives on the loop's thread; the library's threads only post back to it. */
class KemBatcher {
 public:
  static constexpr std::size_t kMaxInFlight = 2;
  static constexpr std::size_t kWorthASecond = 256;

  KemBatcher(asio::io_context& loop, const Context& context, const Scheme& scheme, BatchPolicy policy);
  /** Waits for the batches that run; their items are not called back. The loop must not run afterwards. */
  ~KemBatcher();
  KemBatcher(const KemBatcher&) = delete;
  KemBatcher& operator=(const KemBatcher&) = delete;

  void add(polykem_op op, std::shared_ptr<KemUser> user);

  const BatchStats& stats() const { return stats_; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kOps = 3;

  struct Waiting {
    std::shared_ptr<KemUser> user;
    Clock::time_point since;
  };
  struct Batch;

  std::optional<polykem_op> next_op();
  void schedule_dispatch();
  void dispatch();
  void start_batch(polykem_op op);
  void wait_for_company(Clock::time_point until);
  void on_batch_done(Batch* batch, polykem_status status);
  static void on_library_thread(void* user, polykem_status status);

  asio::io_context& loop_;
  const Context& context_;
  Scheme scheme_;
  BatchPolicy policy_;
  std::array<std::deque<Waiting>, kOps> waiting_;
  std::vector<std::unique_ptr<Batch>> in_flight_;
  asio::steady_timer linger_timer_;
  bool lingering_ = false;
  bool dispatch_posted_ = false;
  Clock::time_point busy_since_{};
  BatchStats stats_;

  std::mutex callbacks_mutex_;  // guards callbacks_due_: batches whose callback has not returned yet
  std::condition_variable callbacks_done_;
  std::size_t callbacks_due_ = 0;
};

}  // namespace polykem::cli::net
