// SPDX-License-Identifier: Apache-2.0
// Products with an A by AES, for a Zen 5, where AES and multiplications share two of four ports. Additions, which the
// other two ports compute, replace half of the multiplications [WINOGRAD68] (matmul/avx512/sums.hpp). The AES of a step
// is issued before the products of the step before, on which it does not depend.
#pragma once

#include <algorithm>
#include <type_traits>
#include <utility>

#include "core/arena.hpp"
#include "core/round.hpp"
#include "schemes/frodo/avx512/grid.hpp"
#include "schemes/frodo/matmul/avx512/columns.hpp"
#include "schemes/frodo/matmul/avx512/dots.hpp"
#include "schemes/frodo/matmul/matmul.hpp"
#include "schemes/frodo/params.hpp"

namespace polykem::frodo::lanes {
inline namespace POLYKEM_ISA {

inline constexpr size_t kStepBlocks = 8;  ///< registers that are encrypted together
inline constexpr auto kEachOfEight = std::make_index_sequence<8>();
static_assert(kStepBlocks == 8 && kBar == 8 && GridKeys::kCount == 8);

/// Computes the remaining rounds of eight registers. The keys are loaded each time, because the sums of products need
/// the registers in which the compiler would keep them.
template <size_t... i>
POLYKEM_INLINE void encrypt(Blocks (&block)[kStepBlocks], const GridKeys& keys, std::index_sequence<i...>) {
  const auto round = [&](auto r) __attribute__((always_inline)) {
    Blocks key;
    asm volatile("vmovdqa64 %1, %0" : "=v"(key.r) : "m"(keys.at[r].r));
    if constexpr (r + 1 < GridKeys::kCount) {
      ((block[i] = block[i].round(key)), ...);
    } else {
      ((block[i] = block[i].last_round(key)), ...);
    }
  };
  (round(std::integral_constant<size_t, i>{}), ...);
}

/// Working memory of the products. The tables reach beyond n, because columns come in whole steps and one more step of
/// rows is encrypted than is multiplied.
struct AesProductsSpace {
  static constexpr size_t kRows = 4;  ///< rows that aes_a_s encrypts at a time

  GridTables tables;
  uint16_t* s;        ///< S transposed, kBar rows of padded(n) words
  uint16_t* rows[2];  ///< kRows rows of A of padded(n) words each

  static constexpr size_t padded(size_t n) { return rounded_up(n, matmul::kDotTerms); }
  static constexpr size_t bytes(size_t n) {
    return GridTables::bytes(beyond(n)) + Arena::bytes<uint16_t>(kBar * padded(n)) +
           2 * Arena::bytes<uint16_t>(kRows * padded(n));
  }
  AesProductsSpace(std::byte* workspace, size_t n, const RoundKeys128& keys) : AesProductsSpace(Arena(workspace), n) {
    tables.fill(keys, beyond(n));
  }

 private:
  static constexpr size_t beyond(size_t n) { return n + 2 * kStepColumns; }
  AesProductsSpace(Arena arena, size_t n)
      : tables(arena, beyond(n)),
        s(arena.take<uint16_t>(kBar * padded(n))),
        rows{arena.take<uint16_t>(kRows * padded(n)), arena.take<uint16_t>(kRows * padded(n))} {}
};

// ---- A S: a step encrypts 64 columns of four rows; two rows at a time are multiplied.

/// Writes columns j to j + 63 of rows i to i + 3 of A to rows of `stride` words.
template <size_t... k>
POLYKEM_INLINE void encrypt_columns(uint16_t* out, size_t stride, const GridTables& tables, const GridKeys& keys,
                                    size_t i, size_t j, std::index_sequence<k...>) {
  const Blocks* const columns = tables.columns + j / kStepColumns;
  Blocks block[kStepBlocks] = {Blocks::all(tables.rows[i + k / 2]) ^ columns[k % 2]...};
  encrypt(block, keys, kEachOfEight);
  (block[k].store(out + k / 2 * stride + k % 2 * kStepColumns), ...);
}

/// Adds the products of 64 columns of two rows with S.
template <size_t... j>
POLYKEM_INLINE void add_dots(matmul::DotSums& sum, const uint16_t* rows, const uint16_t* s, size_t stride,
                             std::index_sequence<j...>) {
  const matmul::Pair x0(rows), x1(rows + stride);
  sum.add_own(x0, x1);
  (sum.add(j, x0, x1, matmul::Pair(s + j * stride)), ...);
}

POLYKEM_INLINE void add_to_row(uint16_t* row, __m128i sums) {
  auto* const to = reinterpret_cast<__m128i*>(row);
  _mm_storeu_si128(to, _mm_add_epi16(_mm_loadu_si128(to), sums));
}

inline void aes_a_s(Matrix16 b, const uint8_t* seed_a, ConstMatrix16 s_transposed, size_t n, std::byte* workspace) {
  const RoundKeys128 round_keys(seed_a);
  const GridKeys keys(round_keys);
  const AesProductsSpace space(workspace, n, round_keys);
  const size_t stride = AesProductsSpace::padded(n);
  for (size_t j = 0; j < kBar; ++j) {  // zeros beyond n, so that those columns of A do not matter
    std::copy_n(s_transposed.row(j), n, space.s + j * stride);
    std::fill(space.s + j * stride + n, space.s + (j + 1) * stride, uint16_t{0});
  }
  const __m512i own_s =
      matmul::winograd_corrections_twice(matmul::Rows<kBar>({space.s, stride}, 0, kBar), stride, kEachOfEight);
  const auto encrypt_at = [&](uint16_t * rows, size_t i, size_t j) __attribute__((always_inline)) {
    encrypt_columns(rows + j, stride, space.tables, keys, i, j, kEachOfEight);
  };
  for (size_t j = 0; j < stride; j += matmul::kDotTerms)
    encrypt_at(space.rows[0], 0, j);
  for (size_t i = 0; i < n; i += AesProductsSpace::kRows) {
    const size_t at = i / AesProductsSpace::kRows % 2;
    size_t multiplied = 0;  // columns so far, first of two rows, then of the other two
    for (size_t k = 0; k < AesProductsSpace::kRows; k += matmul::kDotRows) {
      matmul::DotSums sum;
      sum.clear();
      for (size_t j = 0; j < stride; j += matmul::kDotTerms, multiplied += matmul::kDotTerms) {
        if (multiplied % (2 * matmul::kDotTerms) == 0)
          encrypt_at(space.rows[at ^ 1], i + AesProductsSpace::kRows, multiplied / 2);
        add_dots(sum, space.rows[at] + k * stride + j, space.s + j, stride, kEachOfEight);
      }
      const __m256i products = _mm512_cvtepi32_epi16(sum.total(own_s));
      add_to_row(b.row(i + k), _mm256_castsi256_si128(products));
      add_to_row(b.row(i + k + 1), _mm256_extracti128_si256(products, 1));
    }
  }
}

// ---- S' A: a step encrypts 32 columns of eight rows; four rows at a time are multiplied.

/// Encrypts 32 columns of rows i to i + 7 of A. column: what these columns contribute.
template <size_t... k>
POLYKEM_INLINE void encrypt_rows(Blocks* out, const GridTables& tables, const GridKeys& keys, size_t i, Blocks column,
                                 std::index_sequence<k...>) {
  Blocks block[kStepBlocks] = {Blocks::all(tables.rows[i + k]) ^ column...};
  encrypt(block, keys, kEachOfEight);
  (block[k].store(out + k), ...);
}

/// Adds the products of four rows. s: S' from their first column on.
template <size_t... r>
POLYKEM_INLINE void add_rows(matmul::Sums (&sum)[kBar], matmul::Sums& own, const Blocks* rows, ConstMatrix16 s,
                             std::index_sequence<r...>) {
  const matmul::PanelStep step = {matmul::two_rows(rows[0].r, rows[1].r), matmul::two_rows(rows[2].r, rows[3].r)};
  own.low = matmul::add_products(own.low, step.p.low, step.q.low);
  own.high = matmul::add_products(own.high, step.p.high, step.q.high);
  (matmul::add_step(sum[r], step, s.row(r)), ...);
}

/// Adds S' A to the columns of b, from b.data on, that `words` selects. own_s: the own products of the rows of S'.
template <size_t... r>
POLYKEM_INLINE void add_columns(Matrix16 b, ConstMatrix16 s, size_t n, const GridTables& tables, const GridKeys& keys,
                                Blocks column, const uint32_t* own_s, __mmask32 words, std::index_sequence<r...>) {
  matmul::Sums sum[kBar], own;
  (sum[r].clear(), ...);
  own.clear();
  Blocks rows[2][kStepBlocks];
  encrypt_rows(rows[0], tables, keys, 0, column, kEachOfEight);
  for (size_t i = 0; i < n; i += kStepBlocks) {
    const size_t at = i / kStepBlocks % 2;
    encrypt_rows(rows[at ^ 1], tables, keys, i + kStepBlocks, column, kEachOfEight);
    add_rows(sum, own, rows[at], {s.data + i, s.stride}, kEachOfEight);
    add_rows(sum, own, rows[at] + 4, {s.data + i + 4, s.stride}, kEachOfEight);
  }
  const __m512i own_a = own.joined();
  (matmul::add_to(b.row(r), words, matmul::without_own(sum[r], own_a, own_s[r])), ...);
}

inline void aes_s_a(Matrix16 b, ConstMatrix16 s, const uint8_t* seed_a, size_t n, std::byte* workspace) {
  const RoundKeys128 round_keys(seed_a);
  const GridKeys keys(round_keys);
  const AesProductsSpace space(workspace, n, round_keys);
  uint32_t own_s[kBar];
  for (size_t i = 0; i < kBar; ++i)
    own_s[i] = matmul::winograd_correction(s.row(i), n);
  for (size_t j = 0; j < n; j += kStepColumns) {
    add_columns({b.data + j, b.stride}, s, n, space.tables, keys, space.tables.columns[j / kStepColumns], own_s,
                matmul::first_words(n - j), kEachOfEight);
  }
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::frodo::lanes
