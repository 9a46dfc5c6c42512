// SPDX-License-Identifier: Apache-2.0
#include "async_job.hpp"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

namespace polykem::provider {

namespace {

/// A pause may return at once, if pauses are forbidden (ASYNC_block_pause), or too early, if the job is resumed without
/// cause. After this many such returns the thread waits instead.
constexpr int kMaxIdleResumes = 1000;

/// The state of an ASYNC_WAIT_CTX, which belongs to a connection. One job at a time pauses there.
struct Waiter {
  ~Waiter() {
    if (operation != nullptr) operation->pauses->abandon();
    operation.reset();  // no thread writes to it any more
    if (wake_fd >= 0) close(wake_fd);
    if (wait_fd >= 0) close(wait_fd);
  }

  int wait_fd = -1;                      ///< for the event loop
  int wake_fd = -1;                      ///< a duplicate: the program may close a descriptor it was given
  std::unique_ptr<Operation> operation;  ///< the paused operation
};

const char kKey = 0;  // its address identifies our descriptor in a wait context

/// Called when the wait context is freed: a job that pauses there will not be resumed.
void abandon(ASYNC_WAIT_CTX* /*context*/, const void* /*key*/, OSSL_ASYNC_FD /*fd*/, void* waiter) {
  delete static_cast<Waiter*>(waiter);
}

/// The waiter of a wait context; nullptr if there is none.
Waiter* find_waiter(ASYNC_WAIT_CTX* context) {
  OSSL_ASYNC_FD fd = -1;
  void* known = nullptr;
  return ASYNC_WAIT_CTX_get_fd(context, &kKey, &fd, &known) == 1 ? static_cast<Waiter*>(known) : nullptr;
}

/// Finds or creates the waiter of a wait context; nullptr if the process has no file descriptors left.
Waiter* find_or_make_waiter(ASYNC_WAIT_CTX* context) {
  if (Waiter* known = find_waiter(context); known != nullptr) return known;
  auto fresh = std::make_unique<Waiter>();
  fresh->wait_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  fresh->wake_fd = fresh->wait_fd < 0 ? -1 : fcntl(fresh->wait_fd, F_DUPFD_CLOEXEC, 0);
  if (fresh->wake_fd < 0 || ASYNC_WAIT_CTX_set_wait_fd(context, &kKey, fresh->wait_fd, fresh.get(), abandon) != 1)
    return nullptr;
  return fresh.release();
}

/// Removes the waiter of an operation that never paused. A program does not know of a descriptor that was set but never
/// paused on, and HAProxy 2.6 aborts if it finds one later. As nothing has paused, clearing does not call abandon().
void forget_if_unpaused(ASYNC_WAIT_CTX* context, Waiter* waiter) {
  std::size_t added = 0, removed = 0;
  if (ASYNC_WAIT_CTX_get_changed_fds(context, nullptr, &added, nullptr, &removed) != 1 || added == 0) return;
  if (ASYNC_WAIT_CTX_clear_fd(context, &kKey) == 1) delete waiter;
}

void drain(int fd) {
  std::uint64_t count = 0;
  while (read(fd, &count, sizeof count) > 0) {
  }
}

}  // namespace

bool in_job() {
  return ASYNC_get_current_job() != nullptr;
}

void wake(void* pointer) {
  Operation& operation = *static_cast<Operation*>(pointer);
  const int fd = operation.wake_fd.load();
  if (fd < 0) return;
  const std::uint64_t one = 1;
  // The counter cannot overflow, and a full one would also wake the program.
  [[maybe_unused]] const ssize_t written = write(fd, &one, sizeof one);
  if (const ASYNC_callback_fn callback = operation.wake_callback.load(); callback != nullptr)
    callback(operation.wake_argument.load());
}

void pause_until_done(std::unique_ptr<Operation>& operation) {
  polykem_ticket* const ticket = operation->ticket;
  if (operation->pauses == nullptr || polykem_ticket_poll(ticket) != POLYKEM_ERR_BUSY) return;
  ASYNC_WAIT_CTX* const context = ASYNC_get_wait_ctx(ASYNC_get_current_job());
  const bool is_new = find_waiter(context) == nullptr;
  Waiter* const waiter = find_or_make_waiter(context);
  if (waiter == nullptr || waiter->operation != nullptr) return;
  ASYNC_callback_fn callback = nullptr;
  void* argument = nullptr;
  if (ASYNC_WAIT_CTX_get_callback(context, &callback, &argument) == 1) {
    operation->wake_argument = argument;
    operation->wake_callback = callback;
  }
  drain(waiter->wait_fd);
  operation->wake_fd = waiter->wake_fd;  // last: the first poll sees an operation that has already finished
  waiter->operation = std::move(operation);
  for (int resumes = 0; resumes < kMaxIdleResumes && polykem_ticket_poll(ticket) == POLYKEM_ERR_BUSY; ++resumes) {
    if (ASYNC_pause_job() != 1) break;
    drain(waiter->wait_fd);
  }
  operation = std::move(waiter->operation);
  if (is_new) forget_if_unpaused(context, waiter);
}

}  // namespace polykem::provider
