// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "core/isa.hpp"

namespace polykem::ecdh {

/// Calls make() unless `made`, which it sets.
void make_once(std::atomic<bool>& made, void (*make)());

inline namespace POLYKEM_ISA {

/// std::call_once for tables, safe with fork(): while any thread makes one, a fork waits, so that no child inherits a
/// table that a thread of its parent was making. A signal handler that forks while its own thread makes a table waits
/// forever: fork() is not for handlers here. Constant-initialised.
class Once {
 public:
  void call(void (*make)()) {
    if (!made_.load(std::memory_order_acquire)) make_once(made_, make);
  }

 private:
  std::atomic<bool> made_{false};
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::ecdh
