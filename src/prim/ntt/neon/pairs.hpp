// SPDX-License-Identifier: Apache-2.0
// Sums of products in 32-bit lanes. Products of 16-bit lanes come in two registers without a shuffle, so words of two
// vectors need not stand side by side.
#pragma once

#include "prim/ntt/lanes/montgomery.hpp"

namespace polykem::ntt {
inline namespace POLYKEM_ISA {

inline constexpr bool kPairsInterleaved = false;

/// Words of two vectors that form pairs.
struct Pairs {
  V16 low, high;
  static POLYKEM_INLINE Pairs of(V16 a, V16 b) { return {a, b}; }
  /// Returns the same two words for all items.
  static POLYKEM_INLINE Pairs of_all(const uint16_t* words) { return {V16::set1(words[0]), V16::set1(words[1])}; }
};

/// A 32-bit sum for each lane of a V16.
struct Sums {
  int32x4_t quarter[4];

  static POLYKEM_INLINE Sums of_product(V16 a, V16 b) {
    const Halves x = Halves::of(a), y = Halves::of(b);
    return {{vmull_s16(vget_low_s16(x.low), vget_low_s16(y.low)), vmull_high_s16(x.low, y.low),
             vmull_s16(vget_low_s16(x.high), vget_low_s16(y.high)), vmull_high_s16(x.high, y.high)}};
  }
  POLYKEM_INLINE void add_product(V16 a, V16 b) {
    const Halves x = Halves::of(a), y = Halves::of(b);
    quarter[0] = vmlal_s16(quarter[0], vget_low_s16(x.low), vget_low_s16(y.low));
    quarter[1] = vmlal_high_s16(quarter[1], x.low, y.low);
    quarter[2] = vmlal_s16(quarter[2], vget_low_s16(x.high), vget_low_s16(y.high));
    quarter[3] = vmlal_high_s16(quarter[3], x.high, y.high);
  }
  /// Returns 2^-16 times the sums mod q, within |sum| / 2^16 + q / 2.
  POLYKEM_INLINE V16 reduced() const {
    return {{reduced_half(quarter[0], quarter[1]), reduced_half(quarter[2], quarter[3])}};
  }

 private:
  struct Halves {
    int16x8_t low, high;
    static POLYKEM_INLINE Halves of(V16 v) { return {vreinterpretq_s16_u16(v.r.low), vreinterpretq_s16_u16(v.r.high)}; }
  };
  static POLYKEM_INLINE uint16x8_t reduced_half(int32x4_t a, int32x4_t b) {
    const int16x8_t low = vuzp1q_s16(vreinterpretq_s16_s32(a), vreinterpretq_s16_s32(b));
    const int16x8_t multiple = low * vdupq_n_s16(static_cast<int16_t>(kQInverse));
    a = vmlsl_n_s16(a, vget_low_s16(multiple), kQ);
    b = vmlsl_high_n_s16(b, multiple, kQ);
    return vreinterpretq_u16_s16(vuzp2q_s16(vreinterpretq_s16_s32(a), vreinterpretq_s16_s32(b)));
  }
};

/// Returns sums + a0 b0 + a1 b1 in 32 bits, for pairs (a0, a1) and (b0, b1) of signed words that are neighbours.
POLYKEM_INLINE V16 add_products(V16 sums, V16 a, V16 b) {
  const Sums product = Sums::of_product(a, b);
  const auto half = [](uint16x8_t sum, int32x4_t x, int32x4_t y) __attribute__((always_inline)) {
    return vreinterpretq_u16_s32(vreinterpretq_s32_u16(sum) + vpaddq_s32(x, y));
  };
  return {{half(sums.r.low, product.quarter[0], product.quarter[1]),
           half(sums.r.high, product.quarter[2], product.quarter[3])}};
}

/// Returns 2^-16 times the 32-bit sums mod q, in the upper halves; the lower ones are arbitrary. The result is within
/// |sum| / 2^16 + q / 2.
POLYKEM_INLINE V16 montgomery_upper(V16 sums) {
  const auto half = [](uint16x8_t sum) __attribute__((always_inline)) {
    const int16x8_t multiple = vreinterpretq_s16_u16(sum * vdupq_n_u16(kQInverse));
    // The lower half of each multiple, sign-extended.
    const int32x4_t low = (vreinterpretq_s32_s16(multiple) << 16) >> 16;
    return vreinterpretq_u16_s32(vmlsq_n_s32(vreinterpretq_s32_u16(sum), low, kQ));
  };
  return {{half(sums.r.low), half(sums.r.high)}};
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::ntt
