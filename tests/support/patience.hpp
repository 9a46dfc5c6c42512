// SPDX-License-Identifier: Apache-2.0
// Waiting for what another thread or process does. On a busy machine, under a sanitizer, that takes many times as long
// as usual; the limit is there for what never comes.
#pragma once

#include <chrono>
#include <thread>

namespace polykem::test {

constexpr std::chrono::seconds kPatience{100};

/// Asks now and then until the condition holds; false if it never does.
template <class Condition>
bool eventually(Condition&& holds, std::chrono::milliseconds pause = std::chrono::milliseconds(1)) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(pause);
  }
  return true;
}

}  // namespace polykem::test
