// SPDX-License-Identifier: Apache-2.0
// Dot products along the rows of both operands, with half of the multiplications and with all of them (sums.hpp).
#pragma once

#include <algorithm>
#include <utility>

#include "schemes/frodo/matmul/avx512/sums.hpp"
#include "schemes/frodo/matmul/lanes/rows.hpp"

namespace polykem::matmul {
inline namespace POLYKEM_ISA {

inline constexpr size_t kDotRows = 2, kDotColumns = 8;  ///< rows of a and of b of one block
inline constexpr size_t kDotTerms = 2 * kLanes;         ///< terms of one step: the same lane of two registers is a pair

/// Masks of the words that exist in the last step's registers.
struct LastStep {
  __mmask32 p, q;
  POLYKEM_INLINE explicit LastStep(size_t terms)
      : p(first_words(terms)), q(terms > kLanes ? first_words(terms - kLanes) : 0) {}
};

/// The registers of a step.
struct Pair {
  __m512i p, q;
  POLYKEM_INLINE explicit Pair(const uint16_t* row)
      : p(in_register(_mm512_loadu_si512(row))), q(in_register(_mm512_loadu_si512(row + kLanes))) {}
  POLYKEM_INLINE Pair(const uint16_t* row, const LastStep& words)
      : p(_mm512_maskz_loadu_epi16(words.p, row)), q(_mm512_maskz_loadu_epi16(words.q, row + kLanes)) {}
};

/// Returns sixteen sums, each of the lanes of one register.
POLYKEM_INLINE __m512i sum_lanes(__m512i (&r)[16]) {
  for (size_t i = 0; i < 16; i += 2)
    r[i / 2] = _mm512_add_epi32(_mm512_unpacklo_epi32(r[i], r[i + 1]), _mm512_unpackhi_epi32(r[i], r[i + 1]));
  for (size_t i = 0; i < 8; i += 2)
    r[i / 2] = _mm512_add_epi32(_mm512_unpacklo_epi64(r[i], r[i + 1]), _mm512_unpackhi_epi64(r[i], r[i + 1]));
  for (size_t i = 0; i < 4; i += 2)
    r[i / 2] = _mm512_add_epi32(_mm512_shuffle_i32x4(r[i], r[i + 1], 0x88), _mm512_shuffle_i32x4(r[i], r[i + 1], 0xdd));
  return _mm512_add_epi32(_mm512_shuffle_i32x4(r[0], r[1], 0x88), _mm512_shuffle_i32x4(r[0], r[1], 0xdd));
}

/// Returns the own products of eight rows of b, twice.
template <size_t... j>
POLYKEM_INLINE __m512i winograd_corrections_twice(const Rows<kDotColumns>& b, size_t inner, std::index_sequence<j...>) {
  __m512i sum[2 * kDotColumns];
  ((sum[j] = _mm512_setzero_si512()), ...);
  const auto add = [](__m512i& s, const Pair& y) { s = add_products(s, y.p, y.q); };
  size_t k = 0;
  for (; k + kDotTerms <= inner; k += kDotTerms)
    (add(sum[j], Pair(b.at[j] + k)), ...);
  const LastStep last(inner - k);
  if (k < inner) (add(sum[j], Pair(b.at[j] + k, last)), ...);
  ((sum[kDotColumns + j] = sum[j]), ...);
  return sum_lanes(sum);
}

/// The sums of two rows of a with eight of b.
struct DotSums {
  __m512i at[kDotRows * kDotColumns];
  __m512i own0, own1;  ///< the own products of a's rows

  POLYKEM_INLINE void clear() { clear(std::make_index_sequence<kDotColumns>()); }

  POLYKEM_INLINE void add(size_t j, const Pair& x0, const Pair& x1, const Pair& y) {
    at[j] = add_products(at[j], _mm512_add_epi16(x0.p, y.q), _mm512_add_epi16(x0.q, y.p));
    __m512i& second = at[kDotColumns + j];
    second = add_products(second, _mm512_add_epi16(x1.p, y.q), _mm512_add_epi16(x1.q, y.p));
  }
  POLYKEM_INLINE void add_own(const Pair& x0, const Pair& x1) {
    own0 = add_products(own0, x0.p, x0.q);
    own1 = add_products(own1, x1.p, x1.q);
  }
  /// Returns the dot products. own_b: b's own products, twice.
  POLYKEM_INLINE __m512i total(__m512i own_b) { return total(own_b, std::make_index_sequence<kDotColumns>()); }

 private:
  template <size_t... j>
  POLYKEM_INLINE void clear(std::index_sequence<j...>) {
    ((at[j] = at[kDotColumns + j] = _mm512_setzero_si512()), ...);
    own0 = own1 = _mm512_setzero_si512();
  }
  template <size_t... j>
  POLYKEM_INLINE __m512i total(__m512i own_b, std::index_sequence<j...>) {
    ((at[j] = _mm512_sub_epi32(at[j], own0)), ...);
    ((at[kDotColumns + j] = _mm512_sub_epi32(at[kDotColumns + j], own1)), ...);
    return _mm512_sub_epi32(sum_lanes(at), own_b);
  }
};

/// Computes a_i . b_j for two rows i and eight rows j, with half of the multiplications. own_b: b's own products,
/// twice.
template <size_t... j>
POLYKEM_INLINE __m512i dot_block(const Rows<kDotRows>& a, const Rows<kDotColumns>& b, size_t inner, __m512i own_b,
                                 std::index_sequence<j...>) {
  DotSums sum;
  sum.clear();
  size_t k = 0;
  for (; k + kDotTerms <= inner; k += kDotTerms) {
    const Pair x0(a.at[0] + k), x1(a.at[1] + k);
    sum.add_own(x0, x1);
    (sum.add(j, x0, x1, Pair(b.at[j] + k)), ...);
  }
  if (k < inner) {
    const LastStep last(inner - k);
    const Pair x0(a.at[0] + k, last), x1(a.at[1] + k, last);
    sum.add_own(x0, x1);
    (sum.add(j, x0, x1, Pair(b.at[j] + k, last)), ...);
  }
  return sum.total(own_b);
}

/// Computes a_i . b_j for two rows i and eight rows j, with all multiplications.
template <size_t... j>
POLYKEM_INLINE __m512i plain_dot_block(const Rows<kDotRows>& a, const Rows<kDotColumns>& b, size_t inner,
                                       std::index_sequence<j...>) {
  __m512i sum[kDotRows * kDotColumns];
  ((sum[j] = sum[kDotColumns + j] = _mm512_setzero_si512()), ...);
  const auto add = [&](size_t at, __m512i x0, __m512i x1, __m512i y) __attribute__((always_inline)) {
    sum[at] = add_products(sum[at], x0, y);
    sum[kDotColumns + at] = add_products(sum[kDotColumns + at], x1, y);
  };
  size_t k = 0;
  for (; k + kLanes <= inner; k += kLanes) {
    const __m512i x0 = _mm512_loadu_si512(a.at[0] + k), x1 = _mm512_loadu_si512(a.at[1] + k);
    (add(j, x0, x1, in_register(_mm512_loadu_si512(b.at[j] + k))), ...);
  }
  if (k < inner) {
    const __mmask32 last = first_words(inner - k);
    const __m512i x0 = _mm512_maskz_loadu_epi16(last, a.at[0] + k), x1 = _mm512_maskz_loadu_epi16(last, a.at[1] + k);
    (add(j, x0, x1, _mm512_maskz_loadu_epi16(last, b.at[j] + k)), ...);
  }
  return sum_lanes(sum);
}

/// Computes up to eight columns of c.
template <bool kSaves>
void dot_columns(Matrix16 c, ConstMatrix16 a, const Rows<kDotColumns>& b, size_t columns, const ProductShape& shape) {
  constexpr auto kColumns = std::make_index_sequence<kDotColumns>();
  const auto words = static_cast<__mmask8>((1u << columns) - 1);
  __m512i own = _mm512_setzero_si512();
  if constexpr (kSaves) own = winograd_corrections_twice(b, shape.inner, kColumns);
  for (size_t i = 0; i < shape.rows; i += kDotRows) {
    const Rows<kDotRows> two(a, i, shape.rows);
    const __m512i sums =
        kSaves ? dot_block(two, b, shape.inner, own, kColumns) : plain_dot_block(two, b, shape.inner, kColumns);
    const __m256i product = _mm512_cvtepi32_epi16(sums);
    const __m128i rows[kDotRows] = {_mm256_castsi256_si128(product), _mm256_extracti128_si256(product, 1)};
    for (size_t t = 0; t < std::min(kDotRows, shape.rows - i); ++t) {
      uint16_t* to = c.row(i + t);
      _mm_mask_storeu_epi16(to, words, _mm_add_epi16(_mm_maskz_loadu_epi16(words, to), rows[t]));
    }
  }
}

template <bool kSaves>
void mul_add_transposed(Matrix16 c, ConstMatrix16 a, ConstMatrix16 b_transposed, ProductShape shape) {
  for (size_t j = 0; j < shape.columns; j += kDotColumns) {
    const Rows<kDotColumns> rows(b_transposed, j, shape.columns);
    for (size_t t = 0; t < shape.count; ++t) {
      dot_columns<kSaves>({c.data + t * shape.c_step + j, c.stride}, {a.data + t * shape.a_step, a.stride}, rows,
                          std::min(kDotColumns, shape.columns - j), shape);
    }
  }
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::matmul
