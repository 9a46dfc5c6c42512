// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "prim/simd/vec32.hpp"

namespace polykem::sort_lanes {
inline namespace POLYKEM_ISA {

using simd::V32;

#ifdef POLYKEM_ISA_AMX
/// Returns the larger of a and b, given the smaller. CPUs with matrix tiles find minima and maxima of 512 bits on one
/// port and do logic on two, so a minimum and this take half the time of a minimum and a maximum.
POLYKEM_INLINE V32 larger_of(V32 a, V32 b, V32 smaller) {
  return {_mm512_ternarylogic_epi32(a.r, b.r, smaller.r, 0x96)};
}
#else
POLYKEM_INLINE V32 larger_of(V32 a, V32 b, V32 /*smaller*/) {
  return max_s(a, b);
}
#endif

/// Loads a value and keeps it in a register. Compilers prefer to load it again for each of its two uses, and run out of
/// registers for what they could have kept.
POLYKEM_INLINE V32 loaded(const V32* from) {
  V32 v = V32::load(reinterpret_cast<const int32_t*>(from));
#ifdef POLYKEM_ISA_AMX
  asm("" : "+v"(v.r));
#endif
  return v;
}

POLYKEM_INLINE void compare_exchange(V32& low, V32& high) {
  const V32 smaller = min_s(low, high);
  high = larger_of(low, high, smaller);
  low = smaller;
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::sort_lanes
