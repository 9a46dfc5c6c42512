// SPDX-License-Identifier: Apache-2.0
// Keeps threads out of the driver when the process ends.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

#include "core/thread.hpp"

namespace polykem::cuda {

/// Counts the threads that are inside the driver. exit() runs the driver's own handlers, which tear it down even if
/// threads are inside, and a thread that opens devices in the background is there for seconds. The gate's handler
/// admits no further thread and waits until all have left. Handlers run in reverse order of registration, so the gate
/// must be registered again whenever the driver may have registered a handler. Thread-safe.
class ExitGate {
 public:
  /// Returns false once the process is ending. Otherwise leave() must follow.
  bool enter() {
    inside_.fetch_add(1);
    if (!closed_.load()) return true;
    leave();
    return false;
  }
  void leave() { inside_.fetch_sub(1); }

  /// Calls the driver while it may register handlers, which takes a quarter of a second or more when it starts. If the
  /// main thread ends the process, it waits (accelerators/cuda/loader.cpp); this is for other threads.
  template <class Work>
  void stay_first_during(Work&& work) {
    std::mutex mutex;
    std::condition_variable ended;
    bool over = false;
    come_first_at_exit();
    std::thread again;
    try {
      again = start_thread([&] {
        std::unique_lock lock(mutex);
        auto pause = kPause;
        for (int i = 0; !closed_.load() && !ended.wait_for(lock, pause, [&] { return over; }); ++i) {
          come_first_at_exit();
          if (i > kOften) pause = std::min(2 * pause, kLongestPause);  // a hanging start must not fill the memory
        }
      });
    } catch (const std::system_error&) {  // without a thread, the gate precedes only the handlers known so far
    } catch (const std::bad_alloc&) {
    }
    work();
    {
      const std::lock_guard lock(mutex);
      over = true;
    }
    ended.notify_one();
    if (again.joinable()) again.join();
    come_first_at_exit();
  }

 private:
  static constexpr std::chrono::seconds kLongestWait{5};  ///< a device that hangs must not keep the process for ever
  static constexpr std::chrono::milliseconds kPause{1}, kLongestPause{1000};
  static constexpr int kOften = 2000;

  void come_first_at_exit() {
    process_.store(getpid());
    (void)std::atexit(close);  // without memory for it, the process ends as if there were no gate
  }
  static void close();

  std::atomic<int> inside_{0};
  std::atomic<bool> closed_{false};
  std::atomic<pid_t> process_{0};  ///< a child that it forked has none of its threads to wait for
};

/// Never destroyed.
inline constinit ExitGate exit_gate;

inline void ExitGate::close() {
  if (exit_gate.closed_.exchange(true)) return;  // it may be registered many times but waits once
  const auto end = std::chrono::steady_clock::now() + kLongestWait;
  while (exit_gate.process_.load() == getpid() && exit_gate.inside_.load() > 0 &&
         std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

/// A call of the driver, for as long as the object exists.
class DriverCall {
 public:
  DriverCall() : allowed_(exit_gate.enter()) {}
  ~DriverCall() {
    if (allowed_) exit_gate.leave();
  }
  DriverCall(const DriverCall&) = delete;
  DriverCall& operator=(const DriverCall&) = delete;

  /// False if the process is ending, so that the driver must not be called.
  bool allowed() const { return allowed_; }

 private:
  const bool allowed_;
};

}  // namespace polykem::cuda
