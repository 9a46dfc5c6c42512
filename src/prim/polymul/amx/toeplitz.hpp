// SPDX-License-Identifier: Apache-2.0
// The product c = a b modulo x^n - 1 as Toeplitz matrices times columns. A 16-bit coefficient is two limbs of a byte.
//
// With o = 64 k + 16 u + l, c[o] is the sum over d and j of a[64 (k + d) + j] b[16 u + l - 64 d - j]. For one d and one
// u = 0, .., 3 this is a product of two tiles with rows k, columns l and inner index j = 0, .., 63. Row k of the first
// tile is line k + d of a, continued cyclically. Row r of the second tile has, for each l, the four bytes b[i], ..,
// b[i - 3] with i = 4 (4 u - 16 d - r) + l: it is line 4 u - 16 d - r of an array in which b is written out sixteen
// times, zero outside b. So every row of every tile is an aligned cache line; rows that straddle two lines take longer
// to load (docs/adr/0002-ntru-products-on-the-cpu.md).
#pragma once

#include <immintrin.h>

#include <cstring>

#include "core/unroll.hpp"
#include "prim/aes/avx512/overlapped_keystream.hpp"
#include "prim/polymul/tile_mul.hpp"
#include "prim/simd/isa.hpp"

namespace polykem::polymul {
inline namespace POLYKEM_ISA {

/// Makes the compiler finish its stores, since it does not know what tile loads read.
POLYKEM_INLINE void finish_stores() {
  asm volatile("" : : : "memory");
}

/// Tiles 0 .. 3 hold sums, 4 and 5 hold lines of a, 6 and 7 lines of b. [Intel SDM vol. 1, 18.2]
struct alignas(64) TileConfig {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};

  explicit constexpr TileConfig(size_t rows_of_a) {
    for (size_t i = 0; i < 8; ++i) {
      row_bytes[i] = 64;
      rows[i] = static_cast<uint8_t>(i < 6 ? rows_of_a : 16);
    }
  }
};

/// Configures the tiles, and zeroizes and releases them at the end of the scope.
class Tiles {
 public:
  explicit Tiles(const TileConfig& config) { asm volatile("ldtilecfg %0" : : "m"(config)); }
  ~Tiles() { _tile_release(); }
  Tiles(const Tiles&) = delete;
  Tiles& operator=(const Tiles&) = delete;
};

/// A computation that runs during a product, which calls advance() after each of its steps. This one does nothing.
struct NothingOverlapped {
  POLYKEM_INLINE void advance() {}
};

template <size_t kN>
struct ToeplitzProduct {
  static constexpr size_t kRows = (kN + 63) / 64;       ///< lines of a and of the sums
  static constexpr size_t kBlocks = (kRows + 15) / 16;  ///< blocks of rows; a tile has at most 16 rows
  static constexpr size_t kTileRows = kRows / kBlocks;
  static_assert(kRows % kBlocks == 0);
  static constexpr size_t kSteps = (kN - 1 + 63) / 64 + 1;  ///< values of -d
  static constexpr size_t kWidth = 64 * kRows;
  /// In the array of a, continued cyclically, coefficient 0 is at kOrigin.
  static constexpr size_t kOrigin = 64 * (kSteps - 1);
  static constexpr size_t kCyclicBytes = kOrigin + kWidth;
  static constexpr size_t kBefore = kOrigin - kN;  ///< bytes before the first whole copy
  static_assert(kOrigin >= kN && kBefore < 64 && kWidth - kN < 64);
  /// In the array in which b is written out, a group of kGroupLines lines comes from one register. Line z is at
  /// z + kLowest.
  static constexpr size_t kGroupLines = 12;
  static constexpr size_t kLowest = 15, kZeroLines = 12;  ///< lines below -3 have nothing of b
  static constexpr size_t kGroups = ((kN + 2) / 4 + 3 + kGroupLines) / kGroupLines;
  static constexpr size_t kLines = kLowest + 16 * (kSteps - 1) + 12 + 1;
  static constexpr size_t kLinesStored =
      kLines > kZeroLines + kGroups* kGroupLines ? kLines : kZeroLines + kGroups* kGroupLines;
  static constexpr size_t kMargin = 64;  ///< bytes of zeros before b, and after it

  struct alignas(64) Workspace {
    uint8_t cyclic[2][kCyclicBytes + 64];
    uint8_t lines[2][64 * kLinesStored];
    uint8_t padded[2][kMargin + kWidth + 64 + kMargin];
    int32_t low[kWidth], high[kWidth];
  };

  static POLYKEM_NOINLINE void mul_bytes(WordPolys c, ConstBytePolys a, ConstBytePolys b, size_t count, void* memory) {
    Workspace& w = *static_cast<Workspace*>(memory);
    const Tiles tiles(kConfig);
    clear_margins(w, 1);
    for (size_t i = 0; i < count; ++i) {
      set_a(w, item(a.data, a.stride, i));
      set_b(w, item(b.data, b.stride, i));
      multiply_bytes(w);
      unroll<kRows>([&](auto k) __attribute__((always_inline)) {
        for (size_t half = 0; half < 64; half += 32)
          combine<false>(item(c.data, c.stride, i), w, 64 * k + half);
      });
    }
  }

  static POLYKEM_NOINLINE void mul_words_bytes(WordPolys c, ConstWordPolys a, ConstBytePolys b, size_t count,
                                               void* memory) {
    NothingOverlapped nothing;
    mul_words_bytes_overlapped(c, a, b, count, memory, nothing);
  }
  static POLYKEM_NOINLINE void mul_words_bytes_and_keystream(WordPolys c, ConstWordPolys a, ConstBytePolys b,
                                                             size_t count, void* memory, uint8_t* out, size_t bytes,
                                                             const Aes256Keystream& stream) {
    aes::OverlappedKeystream keystream(out, bytes, stream);
    mul_words_bytes_overlapped(c, a, b, count, memory, keystream);
    keystream.finish();
  }

  static POLYKEM_NOINLINE void mul_words(WordPolys c, ConstWordPolys a, ConstWordPolys b, size_t count, void* memory) {
    Workspace& w = *static_cast<Workspace*>(memory);
    const Tiles tiles(kConfig);
    clear_margins(w, 2);
    for (size_t i = 0; i < count; ++i) {
      set_a(w, item(a.data, a.stride, i));
      set_b(w, item(b.data, b.stride, i));
      NothingOverlapped nothing;
      multiply<2>(item(c.data, c.stride, i), w, nothing);
    }
  }

 private:
  static constexpr TileConfig kConfig{kTileRows};

  template <class Overlapped>
  static POLYKEM_INLINE void mul_words_bytes_overlapped(WordPolys c, ConstWordPolys a, ConstBytePolys b, size_t count,
                                                        void* memory, Overlapped& overlapped) {
    Workspace& w = *static_cast<Workspace*>(memory);
    const Tiles tiles(kConfig);
    clear_margins(w, 1);
    for (size_t i = 0; i < count; ++i) {
      set_a(w, item(a.data, a.stride, i));
      set_b(w, item(b.data, b.stride, i));
      multiply<1>(item(c.data, c.stride, i), w, overlapped);
    }
  }

  template <class T>
  static T* item(T* data, size_t stride, size_t i) {
    return data + i * (stride / sizeof(T));
  }

  static void clear_margins(Workspace& w, size_t limbs) {
    for (size_t limb = 0; limb < limbs; ++limb) {
      std::memset(w.padded[limb], 0, kMargin);
      std::memset(w.padded[limb] + kMargin + kWidth, 0, sizeof w.padded[limb] - kMargin - kWidth);
      std::memset(w.lines[limb], 0, 64 * kZeroLines);
      constexpr size_t kWritten = kZeroLines + kGroups * kGroupLines;
      if constexpr (kLinesStored > kWritten)
        std::memset(w.lines[limb] + 64 * kWritten, 0, 64 * (kLinesStored - kWritten));
    }
  }

  /// The low and the high bytes of 64 words.
  struct Limbs {
    __m512i low, high;
  };
  static POLYKEM_INLINE Limbs limbs(const uint16_t* words) {
    const __m512i mask = _mm512_set1_epi16(0xff), order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
    const __m512i x = _mm512_load_si512(words), y = _mm512_load_si512(words + 32);
    const __m512i low = _mm512_packus_epi16(_mm512_and_si512(x, mask), _mm512_and_si512(y, mask));
    const __m512i high = _mm512_packus_epi16(_mm512_srli_epi16(x, 8), _mm512_srli_epi16(y, 8));
    return {_mm512_permutexvar_epi64(order, low), _mm512_permutexvar_epi64(order, high)};
  }

  /// Writes two whole copies of a. The first one's last register reaches into the second one, whose beginning is
  /// written later.
  static void set_a(Workspace& w, const int8_t* a) {
    for (size_t i = kWidth; i > 0;) {
      i -= 64;
      set_line(w.cyclic[0], i, _mm512_load_si512(a + i));
    }
    continue_cyclically(w.cyclic[0]);
  }
  static void set_a(Workspace& w, const uint16_t* a) {
    for (size_t i = kWidth; i > 0;) {
      i -= 64;
      const Limbs x = limbs(a + i);
      set_line(w.cyclic[0], i, x.low);
      set_line(w.cyclic[1], i, x.high);
    }
    continue_cyclically(w.cyclic[0]);
    continue_cyclically(w.cyclic[1]);
  }
  static POLYKEM_INLINE void set_line(uint8_t* cyclic, size_t i, __m512i x) {
    _mm512_storeu_si512(cyclic + kBefore + i, x);
    _mm512_store_si512(cyclic + kOrigin + i, x);
  }
  /// Writes what lies before and after the two whole copies.
  static POLYKEM_INLINE void continue_cyclically(uint8_t* cyclic) {
    constexpr size_t kAfter = kWidth - kN;
    const __m512i first = _mm512_load_si512(cyclic + kOrigin);
    const __m512i last = _mm512_loadu_si512(cyclic + kOrigin + kN - kBefore);
    _mm512_mask_storeu_epi8(cyclic + kOrigin + kN, (uint64_t{1} << kAfter) - 1, first);
    _mm512_mask_storeu_epi8(cyclic, (uint64_t{1} << kBefore) - 1, last);
  }

  static constexpr uint64_t kLastMask = ~uint64_t{0} >> (kWidth - kN);
  static void set_b(Workspace& w, const int8_t* b) {
    for (size_t i = 0; i < kWidth; i += 64) {
      const __m512i x = _mm512_load_si512(b + i);
      _mm512_store_si512(w.padded[0] + kMargin + i, i + 64 < kWidth ? x : _mm512_maskz_mov_epi8(kLastMask, x));
    }
  }
  static void set_b(Workspace& w, const uint16_t* b) {
    for (size_t i = 0; i < kWidth; i += 64) {
      const uint64_t mask = i + 64 < kWidth ? ~uint64_t{0} : kLastMask;
      const Limbs x = limbs(b + i);
      _mm512_store_si512(w.padded[0] + kMargin + i, _mm512_maskz_mov_epi8(mask, x.low));
      _mm512_store_si512(w.padded[1] + kMargin + i, _mm512_maskz_mov_epi8(mask, x.high));
    }
  }

  /// The places of each line's bytes in the register that has all bytes of a group.
  struct LineIndices {
    alignas(64) uint8_t at[kGroupLines][64];
    constexpr LineIndices() : at() {
      for (size_t line = 0; line < kGroupLines; ++line) {
        for (size_t byte = 0; byte < 64; ++byte)
          at[line][byte] = static_cast<uint8_t>(4 * line + 3 + byte / 4 - byte % 4);
      }
    }
  };
  static constexpr LineIndices kLineIndices{};

  /// Writes lines kGroupLines g - 3, .. of b.
  static POLYKEM_INLINE void write_group(Workspace& w, size_t limb, size_t g) {
    const __m512i x = _mm512_loadu_si512(w.padded[limb] + kMargin - 15 + 4 * kGroupLines * g);
    uint8_t* line = w.lines[limb] + 64 * (kZeroLines + kGroupLines * g);
    unroll<kGroupLines>([&](auto j) __attribute__((always_inline)) {
      _mm512_store_si512(line + 64 * j, _mm512_permutexvar_epi8(_mm512_load_si512(kLineIndices.at[j]), x));
    });
  }

  /// Returns how many groups have to be written before step `step`, counted a few steps ahead so that no load waits for
  /// a store.
  static constexpr size_t groups_before(size_t step) {
    const size_t lines = 16 * (step + 2) + 4 + 3 + 1;
    const size_t groups = (lines + kGroupLines - 1) / kGroupLines;
    return groups < kGroups ? groups : kGroups;
  }
  template <size_t kLimbs, size_t kFirst, size_t kEnd>
  static POLYKEM_INLINE void write_groups(Workspace& w) {
    unroll<kEnd - kFirst>([&](auto g) __attribute__((always_inline)) {
      unroll<kLimbs>([&](auto limb) __attribute__((always_inline)) { write_group(w, limb, kFirst + g); });
    });
  }

  static POLYKEM_INLINE const uint8_t* lines_of_a(const Workspace& w, size_t limb, size_t block, size_t step) {
    return w.cyclic[limb] + 64 * (kTileRows * block + kSteps - 1 - step);
  }
  /// Returns the first row of a tile of b; the others are below it.
  static POLYKEM_INLINE const uint8_t* lines_of_b(const Workspace& w, size_t limb, size_t step, size_t u) {
    return w.lines[limb] + 64 * (kLowest + 4 * u + 16 * step);
  }

  static POLYKEM_INLINE void clear_sums() {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }

  /// Sets `low` to a b, with one limb each.
  static POLYKEM_NOINLINE void multiply_bytes(Workspace& w) {
    write_groups<1, 0, groups_before(0)>(w);
    unroll<kBlocks>([&](auto block) __attribute__((always_inline)) {
      clear_sums();
      unroll<kSteps>([&](auto s) __attribute__((always_inline)) {
        finish_stores();
        _tile_loadd(4, lines_of_a(w, 0, block, s), 64);
        _tile_loadd(6, lines_of_b(w, 0, s, 0), -64);
        _tile_dpbssd(0, 4, 6);
        _tile_loadd(7, lines_of_b(w, 0, s, 1), -64);
        _tile_dpbssd(1, 4, 7);
        _tile_loadd(6, lines_of_b(w, 0, s, 2), -64);
        _tile_dpbssd(2, 4, 6);
        _tile_loadd(7, lines_of_b(w, 0, s, 3), -64);
        _tile_dpbssd(3, 4, 7);
        if constexpr (block == 0) write_groups<1, groups_before(s), groups_before(s + 1)>(w);
      });
      int32_t* sums = w.low + 64 * kTileRows * block;
      _tile_stored(0, sums, 256);
      _tile_stored(1, sums + 16, 256);
      _tile_stored(2, sums + 32, 256);
      _tile_stored(3, sums + 48, 256);
    });
  }

  /// Computes one step of columns u and u + 1: sums 0 and 1 are those of products of low limbs, 2 and 3 those of
  /// products of weight 2^8. If b has one limb, it is signed.
  template <size_t kLimbs>
  static POLYKEM_INLINE void multiply_step(const Workspace& w, size_t block, size_t step, size_t u) {
    _tile_loadd(4, lines_of_a(w, 0, block, step), 64);
    _tile_loadd(6, lines_of_b(w, 0, step, u), -64);
    _tile_loadd(5, lines_of_a(w, 1, block, step), 64);
    _tile_loadd(7, lines_of_b(w, 0, step, u + 1), -64);
    if constexpr (kLimbs == 1) {
      _tile_dpbusd(0, 4, 6);
      _tile_dpbusd(2, 5, 6);
      _tile_dpbusd(1, 4, 7);
      _tile_dpbusd(3, 5, 7);
    } else {
      _tile_dpbuud(0, 4, 6);
      _tile_dpbuud(2, 5, 6);
      _tile_dpbuud(1, 4, 7);
      _tile_dpbuud(3, 5, 7);
      _tile_loadd(6, lines_of_b(w, 1, step, u), -64);
      _tile_loadd(7, lines_of_b(w, 1, step, u + 1), -64);
      _tile_dpbuud(2, 4, 6);
      _tile_dpbuud(3, 4, 7);
    }
  }

  /// Sets c to a b, where a has two limbs and b has kLimbs: in kBlocks passes for columns 0 and 1, during which b is
  /// written out, and as many for columns 2 and 3, during which the first columns are combined.
  template <size_t kLimbs, class Overlapped>
  static POLYKEM_NOINLINE void multiply(uint16_t* c, Workspace& w, Overlapped& overlapped) {
    write_groups<kLimbs, 0, groups_before(0)>(w);
    unroll<2 * kBlocks>([&](auto pass) __attribute__((always_inline)) {
      constexpr size_t kColumn = pass / kBlocks * 2, kBlock = pass % kBlocks;
      clear_sums();
      unroll<kSteps>([&](auto s) __attribute__((always_inline)) {
        finish_stores();
        multiply_step<kLimbs>(w, kBlock, s, kColumn);
        overlapped.advance();
        if constexpr (pass == 0) write_groups<kLimbs, groups_before(s), groups_before(s + 1)>(w);
        if constexpr (pass == kBlocks && s < kRows) combine<true>(c, w, 64 * s);
      });
      const size_t first = 64 * kTileRows * kBlock + 16 * kColumn;
      _tile_stored(0, w.low + first, 256);
      _tile_stored(1, w.low + first + 16, 256);
      _tile_stored(2, w.high + first, 256);
      _tile_stored(3, w.high + first + 16, 256);
    });
    for (size_t k = 0; k < kRows; ++k)
      combine<true>(c, w, 64 * k + 32);
  }

  /// Computes words at, .., at + 31 of c = low + 2^8 high.
  template <bool kHigh>
  static POLYKEM_INLINE void combine(uint16_t* c, const Workspace& w, size_t at) {
    const auto sum = [&](size_t i) __attribute__((always_inline)) {
      const __m512i low = _mm512_load_si512(w.low + i);
      if constexpr (!kHigh) return low;
      return _mm512_add_epi32(low, _mm512_slli_epi32(_mm512_load_si512(w.high + i), 8));
    };
    const __m512i mask = _mm512_set1_epi32(0xffff), order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
    const __m512i words = _mm512_packus_epi32(_mm512_and_si512(sum(at), mask), _mm512_and_si512(sum(at + 16), mask));
    _mm512_store_si512(c + at, _mm512_permutexvar_epi64(order, words));
  }
};

template <size_t kN>
inline constexpr TileMulFunctions kTileMul = {
    .n = kN,
    .width = ToeplitzProduct<kN>::kWidth,
    .workspace_bytes = sizeof(typename ToeplitzProduct<kN>::Workspace),
    .mul_bytes = ToeplitzProduct<kN>::mul_bytes,
    .mul_words_bytes = ToeplitzProduct<kN>::mul_words_bytes,
    .mul_words = ToeplitzProduct<kN>::mul_words,
    .mul_words_bytes_and_keystream = ToeplitzProduct<kN>::mul_words_bytes_and_keystream};

}  // namespace POLYKEM_ISA
}  // namespace polykem::polymul
