// SPDX-License-Identifier: Apache-2.0
// Runs a scenario again and again, each time in a process of its own, and lets another call fail each time.
#pragma once

#include <functional>
#include <string>

#include "inject.hpp"
#include "polykem/polykem.h"

namespace polykem::test {

/// Runs `body` in a child. What is wrong, in words: the text that `body` returns, or how the child ended. Empty:
/// nothing. A child that takes longer than `seconds` is ended.
std::string in_child(const std::function<std::string()>& body, unsigned seconds = 20);

/// Something that a program does with the library, from its first call to its last.
struct Scenario {
  /// Makes what the scenario needs; nothing fails.
  std::function<void()> begin = [] {};
  /// The calls under test; a status for each fault that they may meet.
  std::function<polykem_status()> act;
  /// What is wrong after `act` gave `status`, in words.
  std::function<std::string(polykem_status)> check = [](polykem_status) { return std::string(); };
  /// Frees all.
  std::function<void()> end = [] {};
  /// What `act` may return when a call of this kind fails, besides POLYKEM_OK.
  std::function<bool(Call, polykem_status)> allows;
};

/// The status that the header documents for a failed call of this kind.
bool documented(Call call, polykem_status status);

/// Lets the 1st, 2nd, 3rd ... call of the kind fail, alone and with all later ones, until there is none left to fail:
/// at the very first use of the library, and after a first use without faults. After the fault, the scenario must
/// succeed, and no memory may be lost. Returns how many faults happened; failures go to GoogleTest.
int sweep(Call call, const std::function<Scenario()>& scenario);

}  // namespace polykem::test
