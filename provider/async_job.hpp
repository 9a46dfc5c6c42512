// SPDX-License-Identifier: Apache-2.0
// Pauses ASYNC jobs during operations. The program's event loop resumes a job when an eventfd is readable.
#pragma once

#include <openssl/async.h>
#include <polykem/polykem.hpp>

#include <atomic>
#include <cstdint>
#include <memory>

#include "classical.hpp"

namespace polykem::provider {

/// Decides whether jobs may pause. OpenSSL leaks a job that is abandoned while it pauses, including its stack. After
/// kMaxAbandoned such jobs, none pauses any more.
class Pauses {
 public:
  static constexpr std::uint64_t kMaxAbandoned = 1000;

  /// 0: kMaxAbandoned.
  explicit Pauses(std::uint64_t max_abandoned) : max_abandoned_(max_abandoned != 0 ? max_abandoned : kMaxAbandoned) {}
  bool allowed() const { return abandoned() < max_abandoned_; }
  std::uint64_t abandoned() const { return abandoned_.load(std::memory_order_relaxed); }
  void abandon() { abandoned_.fetch_add(1, std::memory_order_relaxed); }

 private:
  const std::uint64_t max_abandoned_;
  std::atomic<std::uint64_t> abandoned_{0};
};

/// An operation in flight. It is on the heap because a job that is abandoned while it pauses never returns and leaks
/// its stack.
struct Operation {
  ~Operation() { polykem_ticket_free(ticket); }

  polykem_ticket* ticket = nullptr;
  SecretBytes secrets;
  PkeyPtr classical;                                      ///< the secret key, when a key pair is made
  std::shared_ptr<Pauses> pauses;                         ///< nullptr if there is no job that may pause
  std::atomic<int> wake_fd{-1};                           ///< set once the job waits
  std::atomic<ASYNC_callback_fn> wake_callback{nullptr};  ///< the program's own callback, if it has one
  std::atomic<void*> wake_argument{nullptr};
};

/// True on a thread that runs an ASYNC job.
bool in_job();

/// polykem_ticket_callback of an Operation.
void wake(void* operation);

/// Pauses the job until the operation has finished. Returns at once if it has, or if there is no job to pause, in which
/// case waiting for the ticket blocks. If the job is abandoned, this never returns, and the operation is freed.
void pause_until_done(std::unique_ptr<Operation>& operation);

}  // namespace polykem::provider
