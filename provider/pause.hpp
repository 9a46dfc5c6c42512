// SPDX-License-Identifier: Apache-2.0
// Operations inside ASYNC jobs: the job pauses, and the program's event loop resumes it when an eventfd is readable.
#pragma once

#include <openssl/async.h>
#include <polykem/polykem.hpp>

#include <atomic>
#include <cstdint>
#include <memory>

#include "classical.hpp"

namespace polykem::provider {

/// Whether jobs may pause. OpenSSL leaks a job that is abandoned while it pauses, above all the job's stack. After
/// kMaxAbandoned such jobs no job pauses any more.
class Pauses {
 public:
  static constexpr std::uint64_t kMaxAbandoned = 1000;

  /// 0: kMaxAbandoned.
  explicit Pauses(std::uint64_t most_abandoned) : most_(most_abandoned != 0 ? most_abandoned : kMaxAbandoned) {}
  bool allowed() const { return abandoned() < most_; }
  std::uint64_t abandoned() const { return abandoned_.load(std::memory_order_relaxed); }
  void abandon() { abandoned_.fetch_add(1, std::memory_order_relaxed); }

 private:
  const std::uint64_t most_;
  std::atomic<std::uint64_t> abandoned_{0};
};

/// An operation on its way. On the heap: a job that is abandoned while it pauses never returns, and its stack is lost.
struct Operation {
  ~Operation() { polykem_ticket_free(ticket); }

  polykem_ticket* ticket = nullptr;
  SecretBytes secrets;
  PkeyPtr classical;                                      ///< the other half of a key pair that is made
  std::shared_ptr<Pauses> pauses;                         ///< in a job that may be paused; otherwise nullptr
  std::atomic<int> wake_fd{-1};                           ///< set once somebody waits
  std::atomic<ASYNC_callback_fn> wake_callback{nullptr};  ///< the program's own, if it has one
  std::atomic<void*> wake_argument{nullptr};
};

/// True in an ASYNC job.
bool in_job();

/// polykem_ticket_callback of an Operation.
void wake(void* operation);

/// Pauses the job until the operation is finished. Returns at once if it is, or if there is nothing to pause: then its
/// ticket waits. If the job is abandoned meanwhile, this never returns, and the operation is freed.
void pause_until_done(std::unique_ptr<Operation>& operation);

}  // namespace polykem::provider
