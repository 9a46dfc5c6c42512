// SPDX-License-Identifier: Apache-2.0
// Long batches that Ctrl-C can interrupt.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>

#include "gil.hpp"

namespace polykem::python {

/// Estimates how many items take about kPieceSeconds, from what has been measured so far.
using Pace = std::atomic<std::size_t>;

constexpr double kPieceSeconds = 0.25;
constexpr std::size_t kFirstPiece = 64, kMinPiece = 8;
constexpr std::size_t kGrowth = 16;  ///< the next piece is at most this many times larger

/// Records that `items` items took `seconds`.
inline void measured(Pace& pace, std::size_t items, double seconds) {
  const auto fitting = static_cast<double>(items) * kPieceSeconds / std::max(seconds, 1e-9);
  const auto next = static_cast<std::size_t>(std::min(fitting, static_cast<double>(items * kGrowth)));
  const std::size_t now = pace.load(std::memory_order_relaxed);
  if (items >= now || next < now) pace.store(std::max(next, kMinPiece), std::memory_order_relaxed);
}

/// True on the process's main thread, which is the only one in which Python handles signals unless a program embeds it
/// elsewhere.
inline bool on_main_thread() {
#ifdef SYS_gettid
  return syscall(SYS_gettid) == getpid();
#else
  return true;
#endif
}

/// Calls work(first, items) for all `count` items, until it returns false. In the main thread it does so in pieces,
/// between which Python handles signals. Returns false if a handler raised, usually KeyboardInterrupt; its exception is
/// then set.
template <class Work>
bool in_pieces(WithoutGil& no_gil, Pace& pace, std::size_t count, const Work& work) {
  using Clock = std::chrono::steady_clock;
  const bool whole = !on_main_thread();
  for (std::size_t first = 0;;) {
    const std::size_t left = count - first, items = whole ? left : std::min(left, pace.load(std::memory_order_relaxed));
    const Clock::time_point begun = Clock::now();
    const bool more = work(first, items);
    measured(pace, items, std::chrono::duration<double>(Clock::now() - begun).count());
    first += items;
    if (!more || first == count) return true;
    if (!no_gil.handle_signals()) return false;
  }
}

}  // namespace polykem::python
