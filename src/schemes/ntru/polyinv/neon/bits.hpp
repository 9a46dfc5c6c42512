// SPDX-License-Identifier: Apache-2.0
// Gathers and spreads bits of a 64-bit word, for which there are no instructions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "prim/simd/vec16.hpp"

namespace polykem::polyinv {
inline namespace POLYKEM_ISA {

/// Gathers bits i, i + 4, .. of 64, side by side.
template <size_t kSteps>
POLYKEM_INLINE uint64_t take_every_step(uint64_t planes, size_t i) {
  static_assert(kSteps == 4);
  uint64_t x = planes >> i & 0x1111111111111111;
  x = (x | x >> 3) & 0x0303030303030303;
  x = (x | x >> 6) & 0x000f000f000f000f;
  x = (x | x >> 12) & 0x000000ff000000ff;
  return (x | x >> 24) & 0xffff;
}

/// Puts the lowest 16 bits at i, i + 4, .., the inverse of take_every_step.
template <size_t kSteps>
POLYKEM_INLINE uint64_t put_every_step(uint64_t bits, size_t i) {
  static_assert(kSteps == 4);
  uint64_t x = (bits | bits << 24) & 0x000000ff000000ff;
  x = (x | x << 12) & 0x000f000f000f000f;
  x = (x | x << 6) & 0x0303030303030303;
  x = (x | x << 3) & 0x1111111111111111;
  return x << i;
}

/// Puts each of the lowest eight bits into a byte of its own.
POLYKEM_INLINE uint64_t spread_to_bytes(uint64_t bits) {
  const uint64_t low = (bits & 0x7f) * 0x0002040810204081 & 0x0001010101010101;
  return low | (bits >> 7 & 1) << 56;
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::polyinv
