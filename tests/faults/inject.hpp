// SPDX-License-Identifier: Apache-2.0
// Makes calls to the operating system and to the allocator fail on demand. The functions are defined in the test
// program and so replace those of the C library, also for the C++ runtime: operator new calls this malloc.
#pragma once

#include <cstddef>
#include <string>

namespace polykem::test {

enum class Call { kMemory, kThread, kRandom, kMapping };

/// The call that fails: the nth (from 1) of its kind after arm(), on any thread; with `onward` also all that follow.
struct Fault {
  Call call;
  int nth;
  bool onward;

  std::string text() const;
};

void arm(const Fault& fault);
/// Ends the injection. Returns true if the fault has happened since arm().
bool disarm();

/// Returns the number of blocks of memory that are allocated now.
long live_blocks();

}  // namespace polykem::test
