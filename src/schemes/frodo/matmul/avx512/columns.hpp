// SPDX-License-Identifier: Apache-2.0
// Sums along the rows of b, 32 columns at a time.
#pragma once

#include "schemes/frodo/matmul/avx512/sums.hpp"
#include "schemes/frodo/matmul/matmul.hpp"

namespace polykem::matmul {
inline namespace POLYKEM_ISA {

POLYKEM_INLINE __m512i broadcast_pair(const uint16_t* pair) {
  int words;
  __builtin_memcpy(&words, pair, sizeof words);
  return _mm512_set1_epi32(words);
}

/// Columns 0-3, 8-11, .. of two rows of b, word by word, and columns 4-7, 12-15, ..
struct TwoRows {
  __m512i low, high;
};

POLYKEM_INLINE TwoRows two_rows(__m512i first, __m512i second) {
  return {_mm512_unpacklo_epi16(first, second), _mm512_unpackhi_epi16(first, second)};
}
POLYKEM_INLINE TwoRows load_two_rows(const uint16_t* row, size_t stride, __mmask32 words) {
  return two_rows(_mm512_maskz_loadu_epi16(words, row), _mm512_maskz_loadu_epi16(words, row + stride));
}

/// One row of c, 32 columns of it in the order of TwoRows.
struct Sums {
  __m512i low, high;
  POLYKEM_INLINE void clear() { low = high = _mm512_setzero_si512(); }
  /// Returns the low words of the lanes in the order of the columns.
  POLYKEM_INLINE __m512i joined() const {
    const __m512i mask = _mm512_set1_epi32(0xffff);
    return _mm512_packus_epi32(_mm512_and_si512(low, mask), _mm512_and_si512(high, mask));
  }
};

POLYKEM_INLINE void add_to(uint16_t* c, __mmask32 words, __m512i sum) {
  _mm512_mask_storeu_epi16(c, words, _mm512_add_epi16(_mm512_maskz_loadu_epi16(words, c), sum));
}

/// Four terms of 32 columns: terms k, k + 1 and their partners k + 2, k + 3.
struct PanelStep {
  TwoRows p, q;
};

/// Returns the sum of all lanes modulo 2^32. In the compiler's own intrinsic, signed integers overflow.
POLYKEM_INLINE uint32_t sum_of_lanes(__m512i v) {
  const __m256i half = _mm256_add_epi32(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64(v, 1));
  __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
  sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0x4e));
  sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0xb1));
  return static_cast<uint32_t>(_mm_cvtsi128_si32(sum));
}

/// Returns the sum of x_p x_q over the steps of one row of a.
POLYKEM_INLINE uint32_t winograd_correction(const uint16_t* row, size_t inner) {
  __m512i sum = _mm512_setzero_si512();
  for (size_t k = 0; k < inner; k += kLanes) {
    const __m512i x = _mm512_maskz_loadu_epi16(first_words(inner - k), row + k);
    sum = add_products(sum, _mm512_maskz_mov_epi32(0x5555, x), _mm512_shuffle_epi32(x, _MM_PERM_CDAB));
  }
  return sum_of_lanes(sum);
}

POLYKEM_INLINE void add_step(Sums& sum, const PanelStep& b, const uint16_t* a) {
  const __m512i p = broadcast_pair(a), q = broadcast_pair(a + 2);
  sum.low = add_products(sum.low, _mm512_add_epi16(p, b.q.low), _mm512_add_epi16(q, b.p.low));
  sum.high = add_products(sum.high, _mm512_add_epi16(p, b.q.high), _mm512_add_epi16(q, b.p.high));
}

POLYKEM_INLINE __m512i without_own(const Sums& sum, __m512i own_b, uint32_t own_a) {
  const __m512i own = _mm512_add_epi16(own_b, _mm512_set1_epi16(static_cast<short>(own_a)));
  return _mm512_sub_epi16(sum.joined(), own);
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::matmul
