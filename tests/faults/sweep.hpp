// SPDX-License-Identifier: Apache-2.0
// Runs a scenario repeatedly, each time in a new process with another failing call.
#pragma once

#include <functional>
#include <string>

#include "inject.hpp"
#include "polykem/polykem.h"

namespace polykem::test {

/// Runs `body` in a child process. Returns the error that `body` returns, or how the child ended; empty if there is
/// none. Kills a child that takes longer than `seconds`.
std::string in_child(const std::function<std::string()>& body, unsigned seconds = 20);

/// The calls of a program to the library, from its first to its last.
struct Scenario {
  /// Prepares the scenario; no fault is injected.
  std::function<void()> begin = [] {};
  /// The calls under test; they return a status for every fault.
  std::function<polykem_status()> act;
  /// Checks the state after `act` returned `status`. Returns a text that describes an error.
  std::function<std::string(polykem_status)> check = [](polykem_status) { return std::string(); };
  /// Frees everything.
  std::function<void()> end = [] {};
  /// Returns what `act` may return if a call of this kind fails, besides POLYKEM_OK.
  std::function<bool(Call, polykem_status)> allows;
};

/// Returns the status that the header documents for a failed call of this kind.
bool documented(Call call, polykem_status status);

/// Makes the 1st, 2nd, 3rd ... call of the kind fail, until no call is left to fail: at the very first use of the
/// library, and after a first use without faults; then each with all later ones, odd calls at the first use and even
/// ones after it. After the fault, the scenario must succeed, and no memory may be lost. Returns how many faults
/// happened; failures go to GoogleTest.
int sweep(Call call, const std::function<Scenario()>& scenario);

}  // namespace polykem::test
