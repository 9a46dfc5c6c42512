// SPDX-License-Identifier: Apache-2.0
// Moves words between records, which lie item after item in memory, and their interleaved form: one item per 16-bit
// lane, word i of all items side by side. One translation unit per instruction set includes this header. No address
// depends on data.
#pragma once

#include <cstring>
#include <utility>

#include "core/round.hpp"
#include "core/secure.hpp"
#include "prim/simd/rows.hpp"
#include "prim/simd/vec16.hpp"
#ifdef POLYKEM_ISA_NEON
#include "prim/records/neon/tiles.hpp"
#endif

namespace polykem::records {
inline namespace POLYKEM_ISA {

using simd::V16;
inline constexpr size_t kLanes = V16::kLanes;

inline constexpr size_t kTileWords = 8;  // a tile is 16 bytes of every row
inline constexpr size_t kTileBytes = 2 * kTileWords;

/// The addresses of the rows of kLanes items.
struct RowPointers {
  uint8_t* row[kLanes];
};

#ifdef POLYKEM_ISA_NEON

/// Sets interleaved[i][l] to word i of the tile of row l, `offset` bytes into the rows. The paired form is like the
/// other.
template <bool kPaired = false>
POLYKEM_INLINE void load_tile(uint16_t* interleaved, const RowPointers* rows, size_t offset) {
  load_half_tile(interleaved, kLanes, rows->row, offset);
  load_half_tile(interleaved + 8, kLanes, rows->row + 8, offset);
}

/// Writes interleaved[i][l] to word i of the tile of row l: the inverse of load_tile().
POLYKEM_INLINE void store_tile(const RowPointers* rows, size_t offset, const uint16_t* interleaved) {
  store_half_tile(rows->row, offset, interleaved, kLanes);
  store_half_tile(rows->row + 8, offset, interleaved + 8, kLanes);
}

#else

/// Transposes each 128-bit part of eight vectors: word j of vector i becomes word i of vector j.
POLYKEM_INLINE void transpose_tile(V16 (&v)[8]) {
#ifdef POLYKEM_ISA_AVX512
#define POLYKEM_UNPACK(half, width, a, b) _mm512_unpack##half##_epi##width(a, b)
#else
#define POLYKEM_UNPACK(half, width, a, b) _mm256_unpack##half##_epi##width(a, b)
#endif
  V16::Reg a[8], b[8];
  for (int i = 0; i < 4; ++i) {
    a[2 * i] = POLYKEM_UNPACK(lo, 16, v[2 * i].r, v[2 * i + 1].r);
    a[2 * i + 1] = POLYKEM_UNPACK(hi, 16, v[2 * i].r, v[2 * i + 1].r);
  }
  for (int i = 0; i < 8; i += 4) {
    b[i] = POLYKEM_UNPACK(lo, 32, a[i], a[i + 2]);
    b[i + 1] = POLYKEM_UNPACK(hi, 32, a[i], a[i + 2]);
    b[i + 2] = POLYKEM_UNPACK(lo, 32, a[i + 1], a[i + 3]);
    b[i + 3] = POLYKEM_UNPACK(hi, 32, a[i + 1], a[i + 3]);
  }
  for (int i = 0; i < 4; ++i) {
    v[2 * i].r = POLYKEM_UNPACK(lo, 64, b[i], b[i + 4]);
    v[2 * i + 1].r = POLYKEM_UNPACK(hi, 64, b[i], b[i + 4]);
  }
}

/// Transposes pairs of words in each 128-bit part of eight vectors: 32-bit word j of vector i becomes word i mod 4 of
/// vector 2 j + i / 4.
POLYKEM_INLINE void transpose_pairs_tile(V16 (&v)[8]) {
  V16::Reg out[8];
  for (int half = 0; half < 2; ++half) {
    const V16* in = v + 4 * half;
    const V16::Reg a = POLYKEM_UNPACK(lo, 32, in[0].r, in[1].r), b = POLYKEM_UNPACK(lo, 32, in[2].r, in[3].r);
    const V16::Reg c = POLYKEM_UNPACK(hi, 32, in[0].r, in[1].r), d = POLYKEM_UNPACK(hi, 32, in[2].r, in[3].r);
    out[half] = POLYKEM_UNPACK(lo, 64, a, b);
    out[2 + half] = POLYKEM_UNPACK(hi, 64, a, b);
    out[4 + half] = POLYKEM_UNPACK(lo, 64, c, d);
    out[6 + half] = POLYKEM_UNPACK(hi, 64, c, d);
  }
#undef POLYKEM_UNPACK
  for (int i = 0; i < 8; ++i)
    v[i].r = out[i];
}

/// Sets interleaved[i][l] to word i of the tile of row l, `offset` bytes into the rows. If kPaired, words 2 i and 2 i +
/// 1 of a row stay side by side, as NttFunctions::multiply wants them.
template <bool kPaired = false>
POLYKEM_INLINE void load_tile(uint16_t* interleaved, const RowPointers* rows, size_t offset) {
  asm("" : "+r"(rows));  // otherwise the compiler keeps the addresses in vector registers
  const auto part = [&](size_t l) __attribute__((always_inline)) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(rows->row[l] + offset));
  };
  V16 v[8];
  for (size_t i = 0; i < 8; ++i) {
#ifdef POLYKEM_ISA_AVX512
    __m512i x = _mm512_castsi128_si512(part(i));
    x = _mm512_inserti32x4(x, part(i + 8), 1);
    x = _mm512_inserti32x4(x, part(i + 16), 2);
    v[i].r = _mm512_inserti32x4(x, part(i + 24), 3);
#else
    v[i].r = _mm256_inserti128_si256(_mm256_castsi128_si256(part(i)), part(i + 8), 1);
#endif
  }
  if constexpr (kPaired) {
    transpose_pairs_tile(v);
  } else {
    transpose_tile(v);
  }
  for (size_t i = 0; i < 8; ++i)
    v[i].store(interleaved + i * kLanes);
}

/// Writes interleaved[i][l] to word i of the tile of row l: the inverse of load_tile().
POLYKEM_INLINE void store_tile(const RowPointers* rows, size_t offset, const uint16_t* interleaved) {
  asm("" : "+r"(rows));
  const auto put = [&](size_t l, __m128i x) __attribute__((always_inline)) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(rows->row[l] + offset), x);
  };
  V16 v[8];
  for (size_t i = 0; i < 8; ++i)
    v[i] = V16::load(interleaved + i * kLanes);
  transpose_tile(v);
  for (size_t i = 0; i < 8; ++i) {
#ifdef POLYKEM_ISA_AVX512
    put(i, _mm512_castsi512_si128(v[i].r));
    put(i + 8, _mm512_extracti32x4_epi32(v[i].r, 1));
    put(i + 16, _mm512_extracti32x4_epi32(v[i].r, 2));
    put(i + 24, _mm512_extracti32x4_epi32(v[i].r, 3));
#else
    put(i, _mm256_castsi256_si128(v[i].r));
    put(i + 8, _mm256_extracti128_si256(v[i].r, 1));
#endif
  }
}

#endif

/// Scratch for rows that do not fill a tile and for lanes without a row. The destructor zeroizes it.
struct Staging {
  alignas(64) uint8_t tile[kLanes][kTileBytes] = {};

  RowPointers rows() {
    RowPointers pointers;
    for (size_t l = 0; l < kLanes; ++l)
      pointers.row[l] = tile[l];
    return pointers;
  }
  ~Staging() { zeroize(tile, sizeof tile); }
};

/// Sets interleaved[i][l] to the 16-bit little-endian word i of row l, for i < ceil(bytes / 2) rounded up to a multiple
/// of kTileWords; words and half words beyond the row are 0. `interleaved` has the rounded-up number of words for each
/// lane. load_tile() explains kPaired.
template <bool kPaired = false>
void interleave_rows(uint16_t* interleaved, const RowPointers& rows, size_t bytes) {
  const size_t whole = bytes / kTileBytes * kTileBytes;
  for (size_t at = 0; at < whole; at += kTileBytes)
    load_tile<kPaired>(interleaved + at / 2 * kLanes, &rows, at);
  if (whole == bytes) return;
  Staging staging;
  for (size_t l = 0; l < kLanes; ++l)
    std::memcpy(staging.tile[l], rows.row[l] + whole, bytes - whole);
  const RowPointers staged = staging.rows();
  load_tile<kPaired>(interleaved + whole / 2 * kLanes, &staged, 0);
}

/// Does the same with the rows of `in`; lanes >= count repeat the last row.
inline void interleave_rows(uint16_t* interleaved, ConstByteRows in, size_t bytes, size_t count) {
  RowPointers rows;
  for (size_t l = 0; l < kLanes; ++l) {
    rows.row[l] = const_cast<uint8_t*>(in.data) + (l < count ? l : count - 1) * in.stride;
  }
  interleave_rows(interleaved, rows, bytes);
}

/// Writes `bytes` bytes of rows 0 .. count - 1 from words interleaved[i][l]: the inverse of interleave_rows(). Reads
/// words up to a multiple of kTileWords.
inline void deinterleave_rows(ByteRows out, const uint16_t* interleaved, size_t bytes, size_t count) {
  RowPointers rows;
  for (size_t l = 0; l < kLanes; ++l)
    rows.row[l] = out.data + (l < count ? l : 0) * out.stride;
  const size_t whole = count == kLanes ? bytes / kTileBytes * kTileBytes : 0;
  for (size_t at = 0; at < whole; at += kTileBytes)
    store_tile(&rows, at, interleaved + at / 2 * kLanes);
  if (whole == bytes) return;
  Staging staging;
  const RowPointers staged = staging.rows();
  for (size_t at = whole; at < bytes; at += kTileBytes) {
    store_tile(&staged, 0, interleaved + at / 2 * kLanes);
    const size_t now = bytes - at < kTileBytes ? bytes - at : kTileBytes;
    for (size_t l = 0; l < count; ++l)
      std::memcpy(rows.row[l] + at, staging.tile[l], now);
  }
}

/// Returns the low 16 bits of (high:low) >> kShift, 0 < kShift < 16.
template <unsigned kShift>
POLYKEM_INLINE V16 shr_pair(V16 high, V16 low) {
#ifdef POLYKEM_ISA_AVX512
  return {_mm512_shrdi_epi16(low.r, high.r, kShift)};
#elif defined(POLYKEM_ISA_NEON)
  return {{vsliq_n_u16(low.r.low >> kShift, high.r.low, 16 - kShift),
           vsliq_n_u16(low.r.high >> kShift, high.r.high, 16 - kShift)}};
#else
  return low.template shr<kShift>() | high.template shl<16 - kShift>();
#endif
}

/// Coefficients are packed in groups of 16, which take kBits words.
inline constexpr size_t kGroup = 16;

/// Returns coefficient kIndex, below 2^kBits, of a group of packed words.
template <unsigned kBits, size_t kIndex>
POLYKEM_INLINE V16 unpack_coefficient(const uint16_t* words) {
  constexpr size_t kWord = kIndex * kBits / 16;
  constexpr unsigned kShift = kIndex * kBits % 16;
  const V16 low = V16::load(words + kWord * kLanes);
  if constexpr (kShift + kBits == 16) return low.template shr<kShift>();
  const V16 mask = V16::set1((1u << kBits) - 1);
  if constexpr (kShift == 0) return low & mask;
  if constexpr (kShift + kBits < 16) return low.template shr<kShift>() & mask;
  return shr_pair<kShift % 16>(V16::load(words + (kWord + (kShift + kBits > 16)) * kLanes), low) & mask;
}

/// Returns what coefficient kIndex of a group puts into word kWord.
template <unsigned kBits, size_t kWord, size_t kIndex>
POLYKEM_INLINE V16 packed_part(V16 coefficient) {
  constexpr int kShift = static_cast<int>(kIndex * kBits) - static_cast<int>(16 * kWord);
  if constexpr (kShift == 0) return coefficient;
  if constexpr (kShift > 0) return coefficient.template shl<(kShift > 0 ? kShift : 0)>();
  return coefficient.template shr<(kShift < 0 ? -kShift : 0)>();
}

/// Returns word kWord of a group, which has all coefficients with a bit in it.
template <unsigned kBits, size_t kWord>
POLYKEM_INLINE V16 pack_word(const V16* c) {
  constexpr size_t kFirst = 16 * kWord / kBits, kLast = (16 * kWord + 15) / kBits;
  static_assert(kLast < kGroup);
  return [&]<size_t... kMore>(std::index_sequence<kMore...>) __attribute__((always_inline)) {
    V16 word = packed_part<kBits, kWord, kFirst>(c[kFirst]);
    ((word = word | packed_part<kBits, kWord, kFirst + 1 + kMore>(c[kFirst + 1 + kMore])), ...);
    return word;
  }
  (std::make_index_sequence<kLast - kFirst>());
}

template <unsigned kBits, size_t... kIndex>
POLYKEM_INLINE void unpack_group(uint16_t* interleaved, const uint16_t* words, std::index_sequence<kIndex...>) {
  (unpack_coefficient<kBits, kIndex>(words).store(interleaved + kIndex * kLanes), ...);
}

/// Sets interleaved[i][l] to coefficient i of row l, for the kCount coefficients, which fill groups of kGroup; lanes >=
/// count repeat the last row. store(to, a, b) stores coefficients 2 i and 2 i + 1 as two vectors.
template <unsigned kBits, size_t kCount, class Store>
POLYKEM_INLINE void unpack_pairs(uint16_t* interleaved, ConstByteRows in, size_t count, uint16_t* scratch,
                                 const Store& store) {
  static_assert(kCount % kGroup == 0);
  interleave_rows(scratch, in, kCount * kBits / 8, count);
  for (size_t g = 0; g < kCount / kGroup; ++g) {
    const uint16_t* words = scratch + g * kBits * kLanes;
    uint16_t* to = interleaved + g * kGroup * kLanes;
    [&]<size_t... kPair>(std::index_sequence<kPair...>) __attribute__((always_inline)) {
      (store(to + 2 * kPair * kLanes, unpack_coefficient<kBits, 2 * kPair>(words),
             unpack_coefficient<kBits, 2 * kPair + 1>(words)),
       ...);
    }
    (std::make_index_sequence<kGroup / 2>());
  }
}

template <unsigned kBits, size_t... kIndex, size_t... kWord>
POLYKEM_INLINE void pack_group(uint16_t* words, const uint16_t* interleaved, std::index_sequence<kIndex...>,
                               std::index_sequence<kWord...>) {
  const V16 mask = V16::set1((1u << kBits) - 1);
  V16 c[kGroup];
  for (V16& coefficient : c)
    coefficient = V16::zero();
  ((c[kIndex] = V16::load(interleaved + kIndex * kLanes) & mask), ...);
  (pack_word<kBits, kWord>(c).store(words + kWord * kLanes), ...);
}

/// The words of scratch, kLanes of each, that unpack_interleaved() and pack_interleaved() need at most.
template <size_t kCount>
inline constexpr size_t kRowWords = rounded_up(kCount, kLanes);

/// The sizes of a packed row: its bytes, its groups, and the coefficients and words after the last whole group.
template <unsigned kBits, size_t kCount>
struct PackedRow {
  static constexpr size_t kBytes = (kCount * kBits + 7) / 8;
  static constexpr size_t kGroups = kCount / kGroup, kRest = kCount % kGroup;
  static constexpr size_t kRestWords = (kRest * kBits + 15) / 16;
  static_assert(kBits >= 1 && kBits < 16);
  static_assert(rounded_up(kGroups * kBits + kRestWords, kLanes) <= kRowWords<kCount>);
};

/// Sets interleaved[i][l] to coefficient i of row l; lanes >= count repeat the last row. `scratch` is
/// kLanes * kRowWords<kCount> words, 64-byte aligned.
template <unsigned kBits, size_t kCount>
void unpack_interleaved(uint16_t* interleaved, ConstByteRows in, size_t count, uint16_t* scratch) {
  using Row = PackedRow<kBits, kCount>;
  interleave_rows(scratch, in, Row::kBytes, count);
  for (size_t g = 0; g < Row::kGroups; ++g) {
    unpack_group<kBits>(interleaved + g * kGroup * kLanes, scratch + g * kBits * kLanes,
                        std::make_index_sequence<kGroup>());
  }
  if constexpr (Row::kRest > 0) {
    unpack_group<kBits>(interleaved + Row::kGroups * kGroup * kLanes, scratch + Row::kGroups * kBits * kLanes,
                        std::make_index_sequence<Row::kRest>());
  }
}

/// Packs coefficients interleaved[0 .. kCount)[l] into row l. Bits above kBits of each word are ignored; unused bits of
/// the last byte are 0. `scratch` is kLanes * kRowWords<kCount> words, 64-byte aligned.
template <unsigned kBits, size_t kCount>
void pack_interleaved(ByteRows out, const uint16_t* interleaved, size_t count, uint16_t* scratch) {
  using Row = PackedRow<kBits, kCount>;
  for (size_t g = 0; g < Row::kGroups; ++g) {
    pack_group<kBits>(scratch + g * kBits * kLanes, interleaved + g * kGroup * kLanes,
                      std::make_index_sequence<kGroup>(), std::make_index_sequence<kBits>());
  }
  if constexpr (Row::kRest > 0) {
    pack_group<kBits>(scratch + Row::kGroups * kBits * kLanes, interleaved + Row::kGroups * kGroup * kLanes,
                      std::make_index_sequence<Row::kRest>(), std::make_index_sequence<Row::kRestWords>());
  }
  deinterleave_rows(out, scratch, Row::kBytes, count);
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::records
