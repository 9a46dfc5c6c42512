// SPDX-License-Identifier: Apache-2.0
// Measures how much stack a call uses, and what it leaves there and in registers; only on a board.
#pragma once

#include <cstddef>

#ifdef POLYKEM_TEST_STACK
/// Fills the unused stack with a pattern.
void paint_stack();
/// Records the depth of the stack since then. Returns false if the call left anything but zeros below its own frames.
bool read_stack();
/// Returns the largest depth, in bytes.
size_t deepest_stack();
/// Returns true if s0 to s15 are zero. Call it right after a call under test.
bool floating_point_is_zero();
#else
inline void paint_stack() {}
inline bool read_stack() {
  return true;
}
inline size_t deepest_stack() {
  return 0;
}
inline bool floating_point_is_zero() {
  return true;
}
#endif
