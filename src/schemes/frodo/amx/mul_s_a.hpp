// SPDX-License-Identifier: Apache-2.0
// Computes B' += S' A for one item. The right operand has two rows of A, word by word, in each of its rows. The left
// operand has eight rows of S' that multiply the low bytes, and eight that multiply the high bytes: in each, S' has
// zeros in the place of the other byte.
#pragma once

#include "schemes/frodo/amx/mul_a_s.hpp"

namespace polykem::frodo::amx {
inline namespace POLYKEM_ISA {

/// Working memory of mul_s_a.
struct LeftSpace {
  static constexpr size_t kBufferBytes = 2 * tiles::kBytes;  ///< columns 0-3, 8-11, .. of 32 rows, then 4-7, 12-15, ..
  uint8_t *s, *buffers;
  int32_t* sums;

  static constexpr size_t bytes(size_t n) {
    return steps_of_columns(n) * tiles::kBytes + 2 * kBufferBytes + 2 * tiles::kBytes;
  }
  LeftSpace(Arena& arena, size_t n)
      : s(arena.take<uint8_t>(steps_of_columns(n) * tiles::kBytes)),
        buffers(arena.take<uint8_t>(2 * kBufferBytes)),
        sums(arena.take<int32_t>(2 * tiles::kBytes / sizeof(int32_t))) {}
};

/// Fills tiles with S'. Tile k has columns 32 k .. 32 k + 31 of S'; beyond n it has zeros.
inline void expand_left(uint8_t* tile, ConstMatrix16 s, size_t n) {
  for (size_t k = 0; k < n; k += kStepColumns, tile += tiles::kBytes) {
    for (size_t i = 0; i < kBar; ++i) {
      const __m512i words = _mm512_maskz_loadu_epi16(first_words(n - k), s.row(i) + k);
      _mm512_store_si512(tile + i * tiles::kRowBytes, _mm512_and_si512(words, _mm512_set1_epi16(0xff)));
      _mm512_store_si512(tile + (kBar + i) * tiles::kRowBytes, _mm512_slli_epi16(words, 8));
    }
  }
}

/// Generates rows i .. i + 7 and stores them as the rows i / 2 .. i / 2 + 3 of both tiles.
POLYKEM_INLINE void store_pairs_of_rows(uint8_t* to, const Grid& a, size_t i, size_t j) {
  Blocks row[kStepRows];
  a.step(row, i, j);
  uint8_t* first = to + i / 2 % tiles::kRows * tiles::kRowBytes;
#pragma GCC unroll 4
  for (size_t k = 0; k < kStepRows; k += 2, first += tiles::kRowBytes) {
    _mm512_store_si512(first, _mm512_unpacklo_epi16(row[k].r, row[k + 1].r));
    _mm512_store_si512(first + tiles::kBytes, _mm512_unpackhi_epi16(row[k].r, row[k + 1].r));
  }
}

/// Multiplies a tile of S' by two tiles of A. Tiles 0, 1: sums; 2: S'; 3, 4: A.
POLYKEM_INLINE void add_left(const uint8_t* s, const uint8_t* buffer) {
  tiles::load<2>(s);
  tiles::load<3>(buffer);
  tiles::load<4>(buffer + tiles::kBytes);
  tiles::add_signed_unsigned<0, 2, 3>();
  tiles::add_signed_unsigned<1, 2, 4>();
}

/// Returns the low words of the sums of one row and one half of the columns.
POLYKEM_INLINE __m512i joined_bytes(const int32_t* sums, size_t row) {
  const __m512i low = _mm512_load_si512(sums + row * tiles::kRows);
  const __m512i high = _mm512_load_si512(sums + (kBar + row) * tiles::kRows);
  return _mm512_and_si512(_mm512_add_epi32(low, _mm512_slli_epi32(high, 8)), _mm512_set1_epi32(0xffff));
}

POLYKEM_INLINE void add_sums(Matrix16 b, size_t columns, int32_t* sums) {
  tiles::store<0>(sums);
  tiles::store<1>(sums + tiles::kBytes / sizeof(int32_t));
  const __mmask32 words = first_words(columns);
  for (size_t i = 0; i < kBar; ++i) {
    const __m512i sum =
        _mm512_packus_epi32(joined_bytes(sums, i), joined_bytes(sums + tiles::kBytes / sizeof(int32_t), i));
    uint16_t* to = b.row(i);
    _mm512_mask_storeu_epi16(to, words, _mm512_add_epi16(_mm512_maskz_loadu_epi16(words, to), sum));
  }
}

/// Computes 32 columns from j on. While the next rows are generated, the previous ones are multiplied.
POLYKEM_INLINE void s_a_columns(Matrix16 b, const Grid& a, size_t j, size_t n, const LeftSpace& space) {
  constexpr size_t kRows = 2 * tiles::kRows;
  tiles::clear<0>();
  tiles::clear<1>();
  size_t k = 0;
  for (size_t i = 0; i < n; i += kRows, ++k) {
    uint8_t* next = space.buffers + k % 2 * LeftSpace::kBufferBytes;
    const uint8_t* last = space.buffers + (k + 1) % 2 * LeftSpace::kBufferBytes;
    store_pairs_of_rows(next, a, i, j);
    store_pairs_of_rows(next, a, i + kStepRows, j);
    if (k > 0) add_left(space.s + (k - 1) * tiles::kBytes, last);
    if (i + tiles::kRows < n) {
      store_pairs_of_rows(next, a, i + 2 * kStepRows, j);
      store_pairs_of_rows(next, a, i + 3 * kStepRows, j);
    }
  }
  add_left(space.s + (k - 1) * tiles::kBytes, space.buffers + (k - 1) % 2 * LeftSpace::kBufferBytes);
  add_sums({b.data + j, b.stride}, n - j, space.sums);
}

inline void mul_s_a(Matrix16 b, ConstMatrix16 s, const Grid& a, size_t n, const LeftSpace& space) {
  expand_left(space.s, s, n);
  const tiles::TileScope scope;
  for (size_t j = 0; j < n; j += kStepColumns)
    s_a_columns(b, a, j, n, space);
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::frodo::amx
