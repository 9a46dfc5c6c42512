// SPDX-License-Identifier: Apache-2.0
#include "prim/ecdh/once.hpp"

#include <pthread.h>

#include <mutex>

namespace polykem::ecdh {

namespace {

std::mutex making;

/// At the start of the program: a handler that the first use registered would itself be subject to forks.
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
