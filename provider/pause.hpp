// SPDX-License-Identifier: Apache-2.0
// Operations inside ASYNC jobs: the job pauses, and the program's event loop resumes it when an eventfd is readable.
#pragma once

#include <openssl/async.h>
#include <polykem/polykem.hpp>

#include <atomic>
#include <memory>

#include "classical.hpp"

namespace polykem::provider {

/** An operation on its way. On the heap: a job that is abandoned while it pauses never returns, and its stack is lost.
 */
struct Operation {
  ~Operation() { polykem_ticket_free(ticket); }

  polykem_ticket* ticket = nullptr;
  SecretBytes secrets;
  PkeyPtr classical;                                     /**< the other half of a key pair that is made */
  bool pauses = false;                                   /**< in a job that may be paused */
  std::atomic<int> wake_fd{-1};                          /**< set once somebody waits */
  std::atomic<ASYNC_callback_fn> wake_callback{nullptr}; /**< the program's own, if it has one */
  std::atomic<void*> wake_argument{nullptr};
};

/** True in an ASYNC job. */
bool in_job();

/** polykem_ticket_callback of an Operation. */
void wake(void* operation);

/** Pauses the job until the operation is finished. Returns at once if it is, or if there is nothing to pause: then its
 * ticket waits. If the job is abandoned meanwhile, this never returns, and the operation is freed. */
void pause_until_done(std::unique_ptr<Operation>& operation);

}  // namespace polykem::provider
