// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

#include <csignal>
#include <thread>
#include <utility>

namespace polykem {

/// Starts a thread of the library. It blocks all signals except those that a thread causes itself, such as SIGSEGV, so
/// that the program's handlers run on the program's threads. Throws like std::thread.
template <class F>
std::thread start_thread(F&& body) {
  class Blocked {
   public:
    Blocked() {
      sigset_t all;
      sigfillset(&all);
      for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT})
        sigdelset(&all, own);
      pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~Blocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    Blocked(const Blocked&) = delete;
    Blocked& operator=(const Blocked&) = delete;

   private:
    sigset_t before_;
  };
  const Blocked blocked;  // a new thread has the mask of the one that starts it
  return std::thread(std::forward<F>(body));
}

}  // namespace polykem
