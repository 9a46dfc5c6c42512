// SPDX-License-Identifier: Apache-2.0
// Products mod 3329 by Barrett's method with rounding products. A product takes three instructions where both factors
// are 16-bit words and one of them is known; by Montgomery's method it would need the upper half of two products.
// [BHKYY22, Barrett multiplication]
#pragma once

#include "prim/ntt/lanes/modulus.hpp"

namespace polykem::ntt {
inline namespace POLYKEM_ISA {

/// A twiddle factor as a constant: z in (-q/2, q/2), and zq = round(z 2^15 / q). Each is stored twice, as the 32-bit
/// words for x86 are.
struct StoredTwiddle {
  uint32_t z, zq;
  static constexpr StoredTwiddle of(uint32_t factor) {
    const auto z = static_cast<int16_t>(centred(factor));
    const int scaled = 2 * z * (1 << 15), twice_q = 2 * static_cast<int>(kQ);
    const int quotient = (scaled + (z < 0 ? -1 : 1) * static_cast<int>(kQ)) / twice_q;
    return {static_cast<uint16_t>(z) * 0x10001u, static_cast<uint16_t>(quotient) * 0x10001u};
  }
};

/// A twiddle factor in registers; lanes may differ.
struct Twiddle {
  V16 z, zq;
  static POLYKEM_INLINE Twiddle of(const StoredTwiddle& factor) {
    return {V16::set1(static_cast<uint16_t>(factor.z)), V16::set1(static_cast<uint16_t>(factor.zq))};
  }
};

POLYKEM_INLINE uint16x8_t multiply_subtract(uint16x8_t from, int16x8_t a, int16_t b) {
  return vreinterpretq_u16_s16(vmlsq_n_s16(vreinterpretq_s16_u16(from), a, b));
}

/// Returns a times the factor mod q, in (-q, q), for any 16-bit a: the quotient is wrong by at most 1/2 + |a| / 2^16.
POLYKEM_INLINE V16 mul(V16 a, const Twiddle& t) {
  const auto half = [](uint16x8_t x, uint16x8_t z, uint16x8_t zq) __attribute__((always_inline)) {
    const int16x8_t quotient = vqrdmulhq_s16(vreinterpretq_s16_u16(x), vreinterpretq_s16_u16(zq));
    return multiply_subtract(x * z, quotient, kQ);
  };
  return {{half(a.r.low, t.z.r.low, t.zq.r.low), half(a.r.high, t.z.r.high, t.zq.r.high)}};
}

/// Returns a representative in (-q, q) of any 16-bit word. (check-magic: 20159 == round(2^26 / 3329))
POLYKEM_INLINE V16 barrett(V16 x) {
  const auto half = [](uint16x8_t v) __attribute__((always_inline)) {
    const int16x8_t twice = vqdmulhq_n_s16(vreinterpretq_s16_u16(v), 20159);
    return multiply_subtract(v, vrshrq_n_s16(twice, 11), kQ);
  };
  return {{half(x.r.low), half(x.r.high)}};
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::ntt
