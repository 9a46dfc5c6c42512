// SPDX-License-Identifier: Apache-2.0
#include "prim/ecdh/once.hpp"

#include <pthread.h>

#include <mutex>

namespace polykem::ecdh {

namespace {

std::mutex making;

/// Registers the handlers at the start of the program: the first use might register them while another thread forks.
[[maybe_unused]] const int kWatched =
    pthread_atfork([] { making.lock(); }, [] { making.unlock(); }, [] { making.unlock(); });

}  // namespace

void make_once(std::atomic<bool>& made, void (*make)()) {
  const std::lock_guard lock(making);
  if (made.load(std::memory_order_relaxed)) return;
  make();
  made.store(true, std::memory_order_release);
}

}  // namespace polykem::ecdh
