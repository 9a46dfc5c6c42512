// SPDX-License-Identifier: Apache-2.0
// Waits for another thread or process. On a busy machine or under a sanitizer this takes many times as long as usual;
// the limit is for what never happens.
#pragma once

#include <chrono>
#include <thread>

namespace polykem::test {

constexpr std::chrono::seconds kPatience{100};

/// Polls until the condition holds. Returns false if it never does.
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
