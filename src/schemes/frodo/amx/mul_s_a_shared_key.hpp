// SPDX-License-Identifier: Apache-2.0
// Computes B' += S' A for many items with the same A: the rows of two S' fill a tile. A is rearranged once, in panels
// of 32 columns: four rows lie side by side, and low and high bytes have tiles of their own, so that no place is
// wasted.
#pragma once

#include "core/round.hpp"
#include "schemes/frodo/amx/mul_a_s.hpp"

namespace polykem::frodo::amx {
inline namespace POLYKEM_ISA {

inline constexpr size_t kInnerOfTile = 64;  ///< the number of rows of A in one tile
inline constexpr size_t kItemsOfTile = tiles::kRows / kBar;
constexpr size_t inner_tiles(size_t n) {
  return (n + kInnerOfTile - 1) / kInnerOfTile;
}

/// The bytes of a block of 64 rows and 16 columns of A: low bytes, then high bytes. A panel has the blocks of columns
/// 0 .. 15, then those of 16 .. 31, so that what is used together lies side by side and fits the L1 cache.
inline constexpr size_t kPanelBlockBytes = 2 * tiles::kBytes;
constexpr size_t half_panel_bytes(size_t n) {
  return inner_tiles(n) * kPanelBlockBytes;
}

/// Working memory of mul_s_a_shared_key.
struct SharedKeySpace {
  uint8_t *s, *panels;
  int32_t* sums;

  static constexpr size_t s_bytes(size_t n, size_t count) {
    return divided_up(count, kItemsOfTile) * inner_tiles(n) * tiles::kBytes;
  }
  static constexpr size_t panel_bytes(size_t n) { return 2 * half_panel_bytes(n); }
  static constexpr size_t bytes(size_t n, size_t count) {
    return s_bytes(n, count) + 2 * panel_bytes(n) + 4 * tiles::kBytes;
  }
  SharedKeySpace(Arena& arena, size_t n, size_t count)
      : s(arena.take<uint8_t>(s_bytes(n, count))),
        panels(arena.take<uint8_t>(2 * panel_bytes(n))),
        sums(arena.take<int32_t>(4 * tiles::kBytes / sizeof(int32_t))) {}
};

/// Writes the bytes of S', tile after tile along its rows, and zeros beyond n. The second half of a last tile with one
/// item is not written, nor are its sums used.
inline void narrow_left(uint8_t* out, ConstMatrix16 s, size_t n, size_t count, size_t step) {
  for (size_t t = 0; t < count; ++t) {
    uint8_t* tile =
        out + t / kItemsOfTile * inner_tiles(n) * tiles::kBytes + t % kItemsOfTile * kBar * tiles::kRowBytes;
    for (size_t k = 0; k < inner_tiles(n) * kInnerOfTile; k += 32) {
      for (size_t i = 0; i < kBar; ++i) {
        const __mmask32 words = k < n ? first_words(n - k) : 0;
        const __m512i x = _mm512_maskz_loadu_epi16(words, s.row(i) + t * step + k);
        auto* to = tile + k / kInnerOfTile * tiles::kBytes + i * tiles::kRowBytes + k % kInnerOfTile;
        _mm256_store_si256(reinterpret_cast<__m256i*>(to), _mm512_cvtepi16_epi8(x));
      }
    }
  }
}

/// Stores the words of two registers, whose lanes of four columns alternate, as columns 0 .. 15 and 16 .. 31.
POLYKEM_INLINE void store_columns(uint8_t* to, size_t to_second, __m512i even, __m512i odd) {
  const __m512i first = _mm512_set_epi64(11, 10, 3, 2, 9, 8, 1, 0);
  const __m512i second = _mm512_set_epi64(15, 14, 7, 6, 13, 12, 5, 4);
  _mm512_store_si512(to, _mm512_permutex2var_epi64(even, first, odd));
  _mm512_store_si512(to + to_second, _mm512_permutex2var_epi64(even, second, odd));
}

/// Stores four rows of A as a row of the panel's tiles.
POLYKEM_INLINE void store_four_rows(uint8_t* to, size_t to_second, const Blocks* row) {
  const __m512i low_byte = _mm512_set1_epi16(0xff);
  const auto low = [&](__m512i a, __m512i b) {
    return _mm512_or_si512(_mm512_and_si512(low_byte, a), _mm512_slli_epi16(b, 8));
  };
  const auto high = [&](__m512i a, __m512i b) {
    return _mm512_or_si512(_mm512_srli_epi16(a, 8), _mm512_andnot_si512(low_byte, b));
  };
  const __m512i low01 = low(row[0].r, row[1].r), low23 = low(row[2].r, row[3].r);
  const __m512i high01 = high(row[0].r, row[1].r), high23 = high(row[2].r, row[3].r);
  store_columns(to, to_second, _mm512_unpacklo_epi16(low01, low23), _mm512_unpackhi_epi16(low01, low23));
  store_columns(to + tiles::kBytes, to_second, _mm512_unpacklo_epi16(high01, high23),
                _mm512_unpackhi_epi16(high01, high23));
}

/// Stores eight rows of A from i on, of the same 32 columns, in their panel.
POLYKEM_INLINE void store_eight_rows(uint8_t* panel, size_t i, size_t n, const Blocks (&row)[kStepRows]) {
  uint8_t* to = panel + i / kInnerOfTile * kPanelBlockBytes + i % kInnerOfTile / 4 * tiles::kRowBytes;
  store_four_rows(to, half_panel_bytes(n), row);
  store_four_rows(to + tiles::kRowBytes, half_panel_bytes(n), row + 4);
}

/// Makes the panels of A, one after the other, each while the previous one is multiplied.
class GeneratedPanels {
 public:
  /// turns: how often generate_share() will be called for each panel.
  POLYKEM_INLINE GeneratedPanels(const Grid& a, uint8_t* buffers, size_t n, size_t turns)
      : a_(a), buffers_(buffers), n_(n), turns_(turns) {
    finish();
  }
  /// Returns the next panel, finished, and begins the one after it.
  POLYKEM_INLINE const uint8_t* next() {
    finish();
    const uint8_t* panel = buffer();
    j_ += kStepColumns;
    i_ = j_ < n_ ? 0 : n_;
    due_ = 0;
    return panel;
  }
  /// Does a share of the work on the panel that was begun. The shares are equal: a turn of products hides only so much.
  POLYKEM_INLINE void generate_share() {
    for (due_ += n_ / kStepRows; due_ >= turns_; due_ -= turns_)
      step();
  }

 private:
  POLYKEM_INLINE uint8_t* buffer() const { return buffers_ + j_ / kStepColumns % 2 * 2 * half_panel_bytes(n_); }
  POLYKEM_INLINE void step() {
    if (i_ >= n_) return;
    Blocks row[kStepRows];
    a_.step(row, i_, j_);
    store_eight_rows(buffer(), i_, n_, row);
    i_ += kStepRows;
  }
  POLYKEM_INLINE void finish() {
    while (i_ < n_)
      step();
  }

  const Grid& a_;
  uint8_t* buffers_;
  size_t n_, turns_, due_ = 0, j_ = 0, i_ = 0;
};

/// The panels of an A that is packed.
class PackedPanels {
 public:
  PackedPanels(const std::byte* packed, size_t n) : next_(reinterpret_cast<const uint8_t*>(packed)), n_(n) {}
  POLYKEM_INLINE const uint8_t* next() {
    const uint8_t* panel = next_;
    next_ += 2 * half_panel_bytes(n_);
    return panel;
  }
  POLYKEM_INLINE void generate_share() {}

 private:
  const uint8_t* next_;
  size_t n_;
};

inline void pack_rows(uint8_t* panels, ConstMatrix16 rows, size_t first, size_t count, size_t n) {
  for (size_t j = 0; j < n; j += kStepColumns, panels += 2 * half_panel_bytes(n)) {
    for (size_t i = 0; i < count; i += kStepRows) {
      Blocks row[kStepRows];
      for (size_t k = 0; k < kStepRows; ++k)
        row[k] = {_mm512_loadu_si512(rows.row(i + k) + j)};
      store_eight_rows(panels, first + i, n, row);
    }
  }
}

/// The use of the tiles. Tiles 0 .. 3: sums of the low and high bytes of two tiles of S'; 4, 5: S'; 6, 7: A.
struct SharedKeyTiles {
  template <bool kBoth>
  static POLYKEM_INLINE void add(const uint8_t* s, size_t s_stride, const uint8_t* panel) {
    tiles::load_once<4>(s);
    tiles::load<6>(panel);
    tiles::load<7>(panel + tiles::kBytes);
    if constexpr (kBoth) tiles::load_once<5>(s + s_stride);
    tiles::add_signed_unsigned<0, 4, 6>();
    tiles::add_signed_unsigned<1, 4, 7>();
    if constexpr (kBoth) {
      tiles::add_signed_unsigned<2, 5, 6>();
      tiles::add_signed_unsigned<3, 5, 7>();
    }
  }

  /// Adds the sums to 16 columns of `items` items.
  template <int kSums>
  static POLYKEM_INLINE void add_to(Matrix16 b, size_t items, size_t step, int32_t* sums) {
    constexpr size_t kWords = tiles::kBytes / sizeof(int32_t);
    tiles::store<kSums>(sums + kSums * kWords);
    tiles::store<kSums + 1>(sums + (kSums + 1) * kWords);
    const int32_t* low = sums + kSums * kWords;
    for (size_t t = 0; t < items; ++t) {
      for (size_t i = 0; i < kBar; ++i, low += tiles::kRows) {
        const __m512i high = _mm512_slli_epi32(_mm512_load_si512(low + kWords), 8);
        const __m256i sum = _mm512_cvtepi32_epi16(_mm512_add_epi32(_mm512_load_si512(low), high));
        auto* to = reinterpret_cast<__m256i*>(b.row(i) + t * step);
        _mm256_storeu_si256(to, _mm256_add_epi16(_mm256_loadu_si256(to), sum));
      }
    }
  }
};

/// Computes 16 columns for one or two tiles of S', and meanwhile a share of the next panel.
template <bool kBoth, class Panels>
POLYKEM_INLINE void mul_s_a_block(Matrix16 b, const uint8_t* s, const uint8_t* panel, size_t n, size_t items,
                                  size_t step, int32_t* sums, Panels& panels) {
  tiles::clear<0>();
  tiles::clear<1>();
  tiles::clear<2>();
  tiles::clear<3>();
  for (size_t k = 0; k < inner_tiles(n); ++k) {
    SharedKeyTiles::add<kBoth>(s + k * tiles::kBytes, inner_tiles(n) * tiles::kBytes, panel + k * kPanelBlockBytes);
    panels.generate_share();
  }
  SharedKeyTiles::add_to<0>(b, std::min(items, kItemsOfTile), step, sums);
  if constexpr (kBoth)
    SharedKeyTiles::add_to<2>({b.data + kItemsOfTile * step, b.stride}, items - kItemsOfTile, step, sums);
}

inline constexpr size_t kItemsOfBlock = 2 * kItemsOfTile;
/// Returns how often generate_share() is called for each panel of 32 columns.
constexpr size_t turns_of_panel(size_t n, size_t count) {
  return 2 * ((count + kItemsOfBlock - 1) / kItemsOfBlock) * inner_tiles(n);
}

template <class Panels>
POLYKEM_INLINE void mul_s_a_shared_key(Matrix16 b, Panels panels, size_t n, size_t count, size_t step,
                                       const SharedKeySpace& space) {
  for (size_t j = 0; j < n; j += kStepColumns) {
    const uint8_t* panel = panels.next();
    for (size_t half = 0; half < 2 && j + half * tiles::kRows < n; ++half, panel += half_panel_bytes(n)) {
      for (size_t t = 0; t < count; t += kItemsOfBlock) {
        const Matrix16 to{b.data + t * step + j + half * tiles::kRows, b.stride};
        const uint8_t* from = space.s + t / kItemsOfTile * inner_tiles(n) * tiles::kBytes;
        const size_t items = std::min(kItemsOfBlock, count - t);
        items > kItemsOfTile ? mul_s_a_block<true>(to, from, panel, n, items, step, space.sums, panels)
                             : mul_s_a_block<false>(to, from, panel, n, items, step, space.sums, panels);
      }
    }
  }
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::frodo::amx
