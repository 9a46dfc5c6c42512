// SPDX-License-Identifier: Apache-2.0
// How much stack a call takes, and what it leaves there and in registers; known on a board only.
#pragma once

#include <cstddef>

#ifdef POLYKEM_TEST_STACK
/// Fills the unused stack with a pattern.
void paint_stack();
/// Notes how deep the stack was since then; false if anything but zeros was left below the frames of the call itself.
bool read_stack();
/// The deepest, in bytes.
size_t deepest_stack();
/// True if s0 to s15 are zero; right after a call.
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
