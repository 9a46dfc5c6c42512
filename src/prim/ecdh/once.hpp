// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "core/isa.hpp"

namespace polykem::ecdh {

/// Calls make() and sets `made`, unless it is set already.
void make_once(std::atomic<bool>& made, void (*make)());

inline namespace POLYKEM_ISA {

/// A std::call_once for tables that is safe with fork(): while any thread makes a table, a fork waits, so that no child
/// inherits a table that a thread of its parent was making. A signal handler that forks while its own thread makes a
/// table waits forever, so handlers must not call fork(). A Once is constant-initialised.
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
