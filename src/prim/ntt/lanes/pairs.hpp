// SPDX-License-Identifier: Apache-2.0
// Pairs of 16-bit words in 32-bit lanes, for instructions that add two products.
#pragma once

#include <cstring>

#include "prim/ntt/lanes/montgomery.hpp"

#ifdef POLYKEM_ISA_NEON
#include "prim/ntt/neon/pairs.hpp"
#else

namespace polykem::ntt {
inline namespace POLYKEM_ISA {

inline constexpr bool kPairsInterleaved = true;

/// Words of two vectors side by side: `low` has the items in the lower half of every 128 bits, `high` those in the
/// upper half.
struct Pairs {
  V16 low, high;

  static POLYKEM_INLINE Pairs of(V16 a, V16 b) {
#ifdef POLYKEM_ISA_AVX512
    return {{_mm512_unpacklo_epi16(a.r, b.r)}, {_mm512_unpackhi_epi16(a.r, b.r)}};
#else
    return {{_mm256_unpacklo_epi16(a.r, b.r)}, {_mm256_unpackhi_epi16(a.r, b.r)}};
#endif
  }
  /// Returns the same two words for all items.
  static POLYKEM_INLINE Pairs of_all(const uint16_t* words) {
    uint32_t pair;
    std::memcpy(&pair, words, sizeof pair);
    return {V16::set1_pair(pair), V16::set1_pair(pair)};
  }
};

/// Returns sums + a0 b0 + a1 b1 in 32 bits, for pairs (a0, a1) and (b0, b1) of signed words.
POLYKEM_INLINE V16 add_products(V16 sums, V16 a, V16 b) {
#ifdef POLYKEM_ISA_AVX512
  return {_mm512_dpwssd_epi32(sums.r, a.r, b.r)};
#else
  return {_mm256_add_epi32(sums.r, _mm256_madd_epi16(a.r, b.r))};
#endif
}

/// Returns 2^-16 times the 32-bit sums mod q, in the upper halves; the lower ones are arbitrary. The result is within
/// |sum| / 2^16 + q / 2.
POLYKEM_INLINE V16 montgomery_upper(V16 sums) {
  const V16 multiple = sums * V16::set1(kQInverse), q = V16::set1_pair(kQ);
#ifdef POLYKEM_ISA_AVX512
  return {_mm512_sub_epi32(sums.r, _mm512_madd_epi16(multiple.r, q.r))};
#else
  return {_mm256_sub_epi32(sums.r, _mm256_madd_epi16(multiple.r, q.r))};
#endif
}

/// Undoes Pairs::of for one of its operands: returns the reduced sums of all items, in the order of the items.
POLYKEM_INLINE V16 reduced(const Pairs& sums) {
  const V16 low = montgomery_upper(sums.low), high = montgomery_upper(sums.high);
#ifdef POLYKEM_ISA_AVX512
  return {_mm512_packs_epi32(_mm512_srai_epi32(low.r, 16), _mm512_srai_epi32(high.r, 16))};
#else
  return {_mm256_packs_epi32(_mm256_srai_epi32(low.r, 16), _mm256_srai_epi32(high.r, 16))};
#endif
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::ntt

#endif
