// SPDX-License-Identifier: Apache-2.0
// Products with an A by SHAKE, block by block from the Keccak states: no row of A is stored, and nothing is transposed.
#pragma once

#include <utility>

#include "core/arena.hpp"
#include "schemes/frodo/avx512/row_states.hpp"
#include "schemes/frodo/matmul/matmul.hpp"

namespace polykem::frodo::lanes {
inline namespace POLYKEM_ISA {

inline constexpr auto kEachOfBar = std::make_index_sequence<kBar>();

// ---- A S: the terms of a multiplication are two columns of a row, whose sums stay in its lanes.

/// Adds to eight rows of b: column j gets both sums of each 64-bit lane of sum[j].
POLYKEM_INLINE void add_lanes_to_rows(Matrix16 b, const __m512i (&sum)[kBar]) {
  const auto column = [&](size_t j) __attribute__((always_inline)) {
    return _mm512_add_epi32(sum[j], _mm512_srli_epi64(sum[j], 32));
  };
  const auto four_columns = [&](size_t j) __attribute__((always_inline)) {
    const __m512i low = _mm512_mask_blend_epi16(0x22222222, column(j), _mm512_slli_epi64(column(j + 1), 16));
    const __m512i high =
        _mm512_mask_blend_epi16(0x88888888, _mm512_slli_epi64(column(j + 2), 32), _mm512_slli_epi64(column(j + 3), 48));
    return _mm512_mask_blend_epi16(0xcccccccc, low, high);
  };
  const __m512i first = four_columns(0), second = four_columns(4);
  alignas(64) uint16_t rows[kRowsOfGroup][kBar];
  _mm512_store_si512(rows[0], _mm512_permutex2var_epi64(first, _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0), second));
  _mm512_store_si512(rows[4], _mm512_permutex2var_epi64(first, _mm512_set_epi64(15, 7, 14, 6, 13, 5, 12, 4), second));
  for (size_t i = 0; i < kRowsOfGroup; ++i) {
    auto* to = reinterpret_cast<__m128i*>(b.row(i));
    _mm_storeu_si128(to, _mm_add_epi16(_mm_loadu_si128(to), _mm_load_si128(reinterpret_cast<const __m128i*>(rows[i]))));
  }
}

/// The sums of 16 rows with eight columns of S.
struct RowSums {
  static constexpr size_t kGroups = 2;  ///< with fewer sums, each addition would wait for the last one
  __m512i at[kGroups][kBar];

  /// Adds the products of a block's `words` words. s: the transpose of S from the block's first column on.
  template <size_t... j>
  POLYKEM_INLINE void add(const RowStates (&states)[kGroups], ConstMatrix16 s, size_t words,
                          std::index_sequence<j...>) {
    __m512i sum[kGroups][kBar] = {{at[0][j]...}, {at[1][j]...}};
    for (size_t w = 0; w < words; ++w) {
      const __m512i a0 = states[0].at(w), a1 = states[1].at(w);
      const auto add_column = [&](size_t column) __attribute__((always_inline)) {
        uint64_t four;
        std::memcpy(&four, s.row(column) + kColumnsOfWord * w, sizeof four);
        const __m512i y = _mm512_set1_epi64(static_cast<int64_t>(four));
        sum[0][column] = _mm512_dpwssd_epi32(sum[0][column], a0, y);
        sum[1][column] = _mm512_dpwssd_epi32(sum[1][column], a1, y);
      };
      (add_column(j), ...);
    }
    ((at[0][j] = sum[0][j]), ...);
    ((at[1][j] = sum[1][j]), ...);
  }
};

inline void rows_a_s(Matrix16 b, const uint8_t* seed_a, ConstMatrix16 s, size_t n, std::byte*) {
  RowStates states[RowSums::kGroups];
  for (size_t i = 0; i < n; i += RowSums::kGroups * kRowsOfGroup) {
    RowSums sums = {};
    states[0].begin(seed_a, i);
    states[1].begin(seed_a, i + kRowsOfGroup);
    for (size_t k = 0; k < n; k += kRateWords * kColumnsOfWord) {
      states[0].permute();
      states[1].permute();
      sums.add(states, {s.data + k, s.stride}, std::min(kRateWords, (n - k) / kColumnsOfWord), kEachOfBar);
    }
    add_lanes_to_rows({b.row(i), b.stride}, sums.at[0]);
    add_lanes_to_rows({b.row(i + kRowsOfGroup), b.stride}, sums.at[1]);
  }
}

// ---- S' A: the terms of a multiplication are a column of two rows. Four pairs of rows have sums of their own, which
// are added up at the end.

/// Working memory of mul_s_a.
struct ColumnSums {
  static constexpr size_t kMaxGroups = 8;  ///< groups that are multiplied together, to load and store sums seldom
  RowStates* states;
  __m512i* factors;  ///< [kBar g + j]: row j of S' where it meets group g
  __m512i* sums;     ///< [kBar w + j]: the sums of row j of S' and word w of the rows

  static constexpr size_t bytes(size_t n) {
    return Arena::bytes<RowStates>(kMaxGroups) + Arena::bytes<__m512i>(kBar * kMaxGroups) +
           Arena::bytes<__m512i>(kBar * n / kColumnsOfWord);
  }
  ColumnSums(std::byte* workspace, size_t n) {
    Arena arena(workspace);
    states = arena.take<RowStates>(kMaxGroups);
    factors = arena.take<__m512i>(kBar * kMaxGroups);
    sums = arena.take<__m512i>(kBar * n / kColumnsOfWord);
  }
};

/// Loads pairs of words of S' for the eight rows from i on, each pair repeated for four columns of A.
POLYKEM_INLINE void expand_factors(__m512i* factors, ConstMatrix16 s, size_t i) {
  const __m512i pairs = _mm512_set_epi32(3, 3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0);
  for (size_t j = 0; j < kBar; ++j) {
    const __m128i eight = _mm_loadu_si128(reinterpret_cast<const __m128i*>(s.row(j) + i));
    factors[j] = _mm512_permutexvar_epi32(pairs, _mm512_castsi128_si512(eight));
  }
}

/// Adds the products of words w to w + kWords - 1 of a block. sums: those of word w and the following ones.
template <size_t kWords, size_t... j>
POLYKEM_INLINE void add_words(__m512i* sums, const ColumnSums& space, size_t groups, size_t w,
                              std::index_sequence<j...>) {
  // Within 128 bits, the words of four columns of a row, then of the next row, become pairs of a column.
  const __m512i pairs = _mm512_set4_epi32(0x0f0e0706, 0x0d0c0504, 0x0b0a0302, 0x09080100);
  __m512i sum[kWords][kBar];
#pragma GCC unroll 4
  for (size_t v = 0; v < kWords; ++v)
    ((sum[v][j] = sums[kBar * v + j]), ...);
  for (size_t g = 0; g < groups; ++g) {
    __m512i a[kWords];
#pragma GCC unroll 4
    for (size_t v = 0; v < kWords; ++v)
      a[v] = _mm512_shuffle_epi8(space.states[g].at(w + v), pairs);
    const auto add = [&](size_t row) __attribute__((always_inline)) {
      const __m512i x = space.factors[kBar * g + row];
#pragma GCC unroll 4
      for (size_t v = 0; v < kWords; ++v)
        sum[v][row] = _mm512_dpwssd_epi32(sum[v][row], a[v], x);
    };
    (add(j), ...);
  }
#pragma GCC unroll 4
  for (size_t v = 0; v < kWords; ++v)
    ((sums[kBar * v + j] = sum[v][j]), ...);
}

POLYKEM_INLINE void add_block(__m512i* sums, const ColumnSums& space, size_t groups, size_t words) {
  constexpr size_t kTogether = 3;  ///< words whose sums fit the registers
  static_assert(kRateWords % kTogether == 0);
  size_t w = 0;
  for (; w + kTogether <= words; w += kTogether)
    add_words<kTogether>(sums + kBar * w, space, groups, w, kEachOfBar);
  for (; w < words; ++w)
    add_words<1>(sums + kBar * w, space, groups, w, kEachOfBar);
}

/// Adds the sums of four words, from sums[0], [8], [16] and [24], to 16 columns of a row of b.
POLYKEM_INLINE void add_pairs_to_columns(uint16_t* b, const __m512i* sums) {
  const auto join = [](__m512i x, __m512i y) {
    return _mm512_add_epi32(_mm512_shuffle_i32x4(x, y, 0x88), _mm512_shuffle_i32x4(x, y, 0xdd));
  };
  const __m512i all = join(join(sums[0], sums[kBar]), join(sums[2 * kBar], sums[3 * kBar]));
  auto* to = reinterpret_cast<__m256i*>(b);
  _mm256_storeu_si256(to, _mm256_add_epi16(_mm256_loadu_si256(to), _mm512_cvtepi32_epi16(all)));
}

inline void rows_s_a(Matrix16 b, ConstMatrix16 s, const uint8_t* seed_a, size_t n, std::byte* workspace) {
  const ColumnSums space(workspace, n);
  const size_t words = n / kColumnsOfWord;
  std::fill_n(space.sums, kBar * words, _mm512_setzero_si512());
  for (size_t i = 0; i < n; i += ColumnSums::kMaxGroups * kRowsOfGroup) {
    const size_t groups = std::min(ColumnSums::kMaxGroups, (n - i) / kRowsOfGroup);
    for (size_t g = 0; g < groups; ++g) {
      space.states[g].begin(seed_a, i + kRowsOfGroup * g);
      expand_factors(space.factors + kBar * g, s, i + kRowsOfGroup * g);
    }
    for (size_t w = 0; w < words; w += kRateWords) {
      for (size_t g = 0; g < groups; ++g)
        space.states[g].permute();
      add_block(space.sums + kBar * w, space, groups, std::min(kRateWords, words - w));
    }
  }
  for (size_t j = 0; j < kBar; ++j) {
    for (size_t k = 0; k < n; k += 4 * kColumnsOfWord)
      add_pairs_to_columns(b.row(j) + k, space.sums + kBar * k / kColumnsOfWord + j);
  }
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::frodo::lanes
