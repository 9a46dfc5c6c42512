// SPDX-License-Identifier: Apache-2.0
// The constant-time check of code that valgrind cannot execute: the CPU executes it step by step, twice, with different
// secrets, and every instruction, every address of data and what is divided must be the same.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace polykem::ct_test {

struct Comparison {
  uint64_t instructions = 0;  ///< executed by each run, up to the first difference
  uint64_t accesses = 0;      ///< to memory
  std::string difference;     ///< the first one, and where it is; empty if there is none
};

/// Calls `body` with 0, so that what a process computes once is there, then with 0 and with 1, each in a copy of this
/// process, and compares the addresses of its instructions and of the data that they read or write. The mask of a
/// store or a gather and the indices of a gather count as addresses, and so do the operands of a division. What `body`
/// and the code that it calls mark as public (VALGRIND_MAKE_MEM_DEFINED) has in the second run the value of the first.
/// `body` must use other secrets for 1 than for 0, and no other thread.
Comparison compare_steps(const std::function<void(uint32_t run)>& body);

}  // namespace polykem::ct_test
