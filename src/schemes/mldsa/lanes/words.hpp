// SPDX-License-Identifier: Apache-2.0
// Montgomery products of the coefficients in the lanes of a register.
#pragma once

#include <immintrin.h>

#include "prim/simd/vec32.hpp"
#include "schemes/mldsa/modulus.hpp"

namespace polykem::mldsa::lanes {
inline namespace POLYKEM_ISA {

using simd::V32;
inline constexpr size_t kLanes = V32::kLanes;

/// A factor of montgomery() and its product with 1/q mod 2^32, which spares a multiplication.
struct Factor {
  V32 value, by_inverse;
};

/// Returns a b / 2^32 mod q in (-q, q), for |a b| < 2^31 q.
POLYKEM_INLINE V32 montgomery(V32 a, Factor b) {
  const V32 q = V32::set1(kQ), m = a * b.by_inverse;
  const V32 even = wide_sub(wide_product(a, b.value), wide_product(m, q));
  const V32 odd = wide_sub(wide_product(a.odd(), b.value.odd()), wide_product(m.odd(), q));
  return V32::upper_halves(even, odd);
}

/// Returns x / 2^32 mod q in (-q, q) for 64-bit sums of products x, |x| < 2^31 q, which are given for the even and for
/// the odd lanes.
POLYKEM_INLINE V32 montgomery_of(V32 even, V32 odd) {
  const V32 q = V32::set1(kQ), inverse = V32::set1(kInverseQ);
  const auto rest = [&](V32 x) __attribute__((always_inline)) {
    return wide_sub(x, wide_product(x * inverse, q));
  };
  return V32::upper_halves(rest(even), rest(odd));
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::mldsa::lanes
