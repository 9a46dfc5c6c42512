// SPDX-License-Identifier: Apache-2.0
// Computes B += A S. Rows of A are the left operand as they are: words of 16 bits, of which each byte is a term of its
// own. The right operand has eight columns that multiply the low bytes, and eight that multiply the high bytes: in
// each, S has zeros in the place of the other byte.
#pragma once

#include <algorithm>
#include <utility>

#include "schemes/frodo/avx512/grid.hpp"
#include "schemes/frodo/matmul/amx/tiles.hpp"
#include "schemes/frodo/matmul/matmul.hpp"
#include "schemes/frodo/params.hpp"

namespace polykem::frodo::amx {
inline namespace POLYKEM_ISA {

namespace tiles = matmul::tiles;
using lanes::Blocks, lanes::Grid, lanes::kStepColumns, lanes::kStepRows, lanes::steps_of_columns;

POLYKEM_INLINE __mmask32 first_words(size_t count) {
  return static_cast<__mmask32>(count >= 32 ? ~uint32_t{0} : (uint32_t{1} << count) - 1);
}

/// Working memory of mul_a_s.
struct RightSpace {
  static constexpr size_t kMaxGroups = 4;  ///< groups of 16 rows that are computed together
  static constexpr size_t kBufferBytes = kMaxGroups * tiles::kBytes;
  uint8_t *s, *buffers;
  int32_t* sums;

  static constexpr size_t bytes(size_t n) {
    return steps_of_columns(n) * tiles::kBytes + 2 * kBufferBytes + tiles::kBytes;
  }
  RightSpace(Arena& arena, size_t n)
      : s(arena.take<uint8_t>(steps_of_columns(n) * tiles::kBytes)),
        buffers(arena.take<uint8_t>(2 * kBufferBytes)),
        sums(arena.take<int32_t>(tiles::kBytes / sizeof(int32_t))) {}
};

/// Stores lane kLane of both registers as a row of a tile: pairs of words that multiply low bytes, then high bytes.
template <int kLane>
POLYKEM_INLINE void store_pairs(uint8_t* row, __m512i columns0, __m512i columns4) {
  const __m256i pairs = _mm256_inserti128_si256(_mm256_castsi128_si256(_mm512_extracti32x4_epi32(columns0, kLane)),
                                                _mm512_extracti32x4_epi32(columns4, kLane), 1);
  const __m256i low = _mm256_and_si256(pairs, _mm256_set1_epi16(0xff));
  _mm256_store_si256(reinterpret_cast<__m256i*>(row), low);
  _mm256_store_si256(reinterpret_cast<__m256i*>(row + 32), _mm256_slli_epi16(pairs, 8));
}

/// Fills tiles with S. Tile j has columns 32 j .. 32 j + 31 of its transpose, a pair of them in each row; beyond n it
/// has zeros.
inline void expand_right(uint8_t* tile, ConstMatrix16 s_transposed, size_t n) {
  for (size_t j = 0; j < n; j += kStepColumns, tile += tiles::kBytes) {
    __m512i r[kBar], a[kBar], b[kBar];
    for (size_t i = 0; i < kBar; ++i)
      r[i] = _mm512_maskz_loadu_epi16(first_words(n - j), s_transposed.row(i) + j);
    for (size_t i = 0; i < kBar; i += 2) {
      a[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]);
      a[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
    }
    for (size_t h = 0; h < kBar; h += 4) {
      b[h] = _mm512_unpacklo_epi64(a[h], a[h + 2]);
      b[h + 1] = _mm512_unpackhi_epi64(a[h], a[h + 2]);
      b[h + 2] = _mm512_unpacklo_epi64(a[h + 1], a[h + 3]);
      b[h + 3] = _mm512_unpackhi_epi64(a[h + 1], a[h + 3]);
    }
    for (size_t i = 0; i < 4; ++i) {
      store_pairs<0>(tile + i * tiles::kRowBytes, b[i], b[4 + i]);
      store_pairs<1>(tile + (4 + i) * tiles::kRowBytes, b[i], b[4 + i]);
      store_pairs<2>(tile + (8 + i) * tiles::kRowBytes, b[i], b[4 + i]);
      store_pairs<3>(tile + (12 + i) * tiles::kRowBytes, b[i], b[4 + i]);
    }
  }
}

/// The use of the tiles. Tiles 0 .. 3: sums of a group of 16 rows each; 4: S; 5, 6: A.
struct RightTiles {
  template <int kGroup>
  static POLYKEM_INLINE void add(const uint8_t* buffer) {
    constexpr int kA = 5 + kGroup % 2;
    tiles::load<kA>(buffer + kGroup * tiles::kBytes);
    tiles::add_unsigned_signed<kGroup, kA, 4>();
  }

  template <int kGroup>
  static POLYKEM_INLINE void add_to(Matrix16 b, size_t row, int32_t* sums) {
    tiles::store<kGroup>(sums);
    for (size_t i = 0; i < tiles::kRows; ++i) {
      const __m512i both = _mm512_load_si512(sums + i * tiles::kRows);
      const __m256i high = _mm512_extracti64x4_epi64(both, 1);
      const __m256i sum = _mm256_add_epi32(_mm512_castsi512_si256(both), _mm256_slli_epi32(high, 8));
      auto* to = reinterpret_cast<__m128i*>(b.row(row + kGroup * tiles::kRows + i));
      _mm_storeu_si128(to, _mm_add_epi16(_mm_loadu_si128(to), _mm256_cvtepi32_epi16(sum)));
    }
  }
};

POLYKEM_INLINE void store_rows(uint8_t* to, const Grid& a, size_t i, size_t j) {
  Blocks row[kStepRows];
  a.step(row, i, j);
#pragma GCC unroll 8
  for (size_t k = 0; k < kStepRows; ++k)
    row[k].store(to + k * tiles::kRowBytes);
}

/// Computes 16 rows for each of kGroup..., from row i on. While the next columns are generated, the previous ones are
/// multiplied.
template <int... kGroup>
POLYKEM_INLINE void a_s_rows(Matrix16 b, const Grid& a, size_t i, size_t n, const RightSpace& space,
                             std::integer_sequence<int, kGroup...>) {
  (tiles::clear<kGroup>(), ...);
  size_t at = 0;
  const auto generate_group = [&](uint8_t* to, size_t group) {
    const size_t row = i + group * tiles::kRows;
    store_rows(to + group * tiles::kBytes, a, row, at * kStepColumns);
    store_rows(to + group * tiles::kBytes + tiles::kBytes / 2, a, row + kStepRows, at * kStepColumns);
  };
  (generate_group(space.buffers, kGroup), ...);
  for (at = 1; at < steps_of_columns(n); ++at) {
    uint8_t* next = space.buffers + at % 2 * RightSpace::kBufferBytes;
    const uint8_t* last = space.buffers + (at - 1) % 2 * RightSpace::kBufferBytes;
    tiles::load<4>(space.s + (at - 1) * tiles::kBytes);
    ((generate_group(next, kGroup), RightTiles::add<kGroup>(last)), ...);
  }
  tiles::load<4>(space.s + (at - 1) * tiles::kBytes);
  (RightTiles::add<kGroup>(space.buffers + (at - 1) % 2 * RightSpace::kBufferBytes), ...);
  (RightTiles::add_to<kGroup>(b, i, space.sums), ...);
}

inline void mul_a_s(Matrix16 b, const Grid& a, ConstMatrix16 s_transposed, size_t n, const RightSpace& space) {
  expand_right(space.s, s_transposed, n);
  const tiles::TileScope scope;
  constexpr size_t kMaxRows = RightSpace::kMaxGroups * tiles::kRows;
  size_t i = 0;
  for (; i + kMaxRows <= n; i += kMaxRows)
    a_s_rows(b, a, i, n, space, std::make_integer_sequence<int, RightSpace::kMaxGroups>());
  for (; i < n; i += tiles::kRows)
    a_s_rows(b, a, i, n, space, std::make_integer_sequence<int, 1>());
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::frodo::amx
