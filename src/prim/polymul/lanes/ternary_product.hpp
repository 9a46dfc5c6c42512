// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "prim/polymul/lanes/gf3.hpp"
#include "prim/polymul/lanes/karatsuba.hpp"
#ifdef POLYKEM_ISA_NEON
#include "prim/polymul/neon/slices.hpp"
#endif

/// Products modulo (3, Phi_n) with the coefficients of all items bit sliced.
///
/// A coefficient of kLanes items is one word of kLanes bits for each of Gf3's two planes; a register
/// holds sixteen words. Writing a(x) = sum over l < 8 of x^l a_l(x^8), eight consecutive words are one coefficient of
/// the eight polynomials a_l. Three Karatsuba levels over l turn the 8 x 8 products of the a_l and b_l into 27, which
/// fill the words of two registers, so that lanes are full in the products in y = x^8 too.
namespace polykem::polymul {
inline namespace POLYKEM_ISA {

#if defined(POLYKEM_ISA_AVX512)
using SliceWord = uint32_t;
#elif defined(POLYKEM_ISA_AVX2)
using SliceWord = uint16_t;
#endif
constexpr size_t kWordsPerReg = 16;
static_assert(sizeof(SliceWord) * 8 == kLanes && sizeof(SliceWord) * kWordsPerReg == sizeof(Gf3::Reg));

/// Both planes of a polynomial, one word per coefficient.
struct SlicedPoly {
  SliceWord* nonzero;
  SliceWord* negative;

  POLYKEM_INLINE Gf3 load(size_t i) const { return {Gf3::load_plane(nonzero + i), Gf3::load_plane(negative + i)}; }
  POLYKEM_INLINE void store(size_t i, Gf3 v) const {
    Gf3::store_plane(nonzero + i, v.nonzero);
    Gf3::store_plane(negative + i, v.negative);
  }
};

#ifndef POLYKEM_ISA_NEON

using SliceReg __attribute__((vector_size(sizeof(Gf3::Reg)))) = SliceWord;

/// Picks words of a (0 .. 15) and b (16 .. 31). GCC 11 lacks one of the two functions, Clang the other.
template <int... kIndex>
POLYKEM_INLINE Gf3::Reg pick_words(Gf3::Reg a, Gf3::Reg b) {
#if __has_builtin(__builtin_shufflevector)
  return reinterpret_cast<Gf3::Reg>(
      __builtin_shufflevector(reinterpret_cast<SliceReg>(a), reinterpret_cast<SliceReg>(b), kIndex...));
#else
  return reinterpret_cast<Gf3::Reg>(
      __builtin_shuffle(reinterpret_cast<SliceReg>(a), reinterpret_cast<SliceReg>(b), SliceReg{kIndex...}));
#endif
}
template <int... kIndex>
POLYKEM_INLINE Gf3 pick(Gf3 a, Gf3 b) {
  return {pick_words<kIndex...>(a.nonzero, b.nonzero), pick_words<kIndex...>(a.negative, b.negative)};
}

/// Returns words 0 to 11 of a register, and 0 in the others.
POLYKEM_INLINE Gf3::Reg first_twelve(Gf3::Reg x) {
  constexpr SliceWord kOnes = static_cast<SliceWord>(~SliceWord{0});
  const SliceReg used = {kOnes, kOnes, kOnes, kOnes, kOnes, kOnes, kOnes, kOnes, kOnes, kOnes, kOnes, kOnes};
  return x & reinterpret_cast<Gf3::Reg>(used);
}
POLYKEM_INLINE Gf3::Reg all_words(SliceWord word) {
  return reinterpret_cast<Gf3::Reg>(SliceReg{} + word);
}

#ifdef POLYKEM_ISA_AVX512
POLYKEM_INLINE void slice_rows(SlicedPoly s, size_t i, const uint16_t* a, size_t rows) {
  for (const size_t end = i + rows; i < end; ++i) {
    const __m512i row = _mm512_load_si512(a + i * kLanes);
    s.nonzero[i] = _mm512_test_epi16_mask(row, _mm512_set1_epi16(3));
    s.negative[i] = _mm512_test_epi16_mask(row, _mm512_set1_epi16(2));
  }
}

POLYKEM_INLINE void unslice_row(uint16_t* c, SlicedPoly s, size_t i) {
  const __m512i one = _mm512_maskz_set1_epi16(s.nonzero[i], 1);
  _mm512_store_si512(c + i * kLanes, _mm512_mask_set1_epi16(one, s.nonzero[i] & s.negative[i], 2));
}
#else
POLYKEM_INLINE void slice_row_pair(SlicedPoly s, size_t i, __m256i first, __m256i second) {
  const auto gather = [](__m256i x, __m256i y) __attribute__((always_inline)) {
    return static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_permute4x64_epi64(_mm256_packs_epi16(x, y), 0xd8)));
  };
  const auto bit1 = [](__m256i x) __attribute__((always_inline)) {
    return _mm256_slli_epi16(x, 14);
  };
  const auto any = [](__m256i x) __attribute__((always_inline)) {
    return _mm256_or_si256(_mm256_slli_epi16(x, 15), _mm256_slli_epi16(x, 14));
  };
  const uint32_t nonzero = gather(any(first), any(second));
  const uint32_t negative = gather(bit1(first), bit1(second));
  __builtin_memcpy(s.nonzero + i, &nonzero, sizeof nonzero);
  __builtin_memcpy(s.negative + i, &negative, sizeof negative);
}

POLYKEM_INLINE void slice_rows(SlicedPoly s, size_t i, const uint16_t* a, size_t rows) {
  const auto row = [&](size_t k) __attribute__((always_inline)) {
    return _mm256_load_si256(reinterpret_cast<const __m256i*>(a + k * kLanes));
  };
  const size_t end = i + rows;
  for (; i + 1 < end; i += 2)
    slice_row_pair(s, i, row(i), row(i + 1));
  if (i < end) slice_row_pair(s, i, row(i), _mm256_setzero_si256());
}

POLYKEM_INLINE void unslice_row(uint16_t* c, SlicedPoly s, size_t i) {
  const __m256i bits = _mm256_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, -32768);
  const auto spread = [&](SliceWord w) __attribute__((always_inline)) {
    return _mm256_cmpeq_epi16(_mm256_and_si256(_mm256_set1_epi16(static_cast<short>(w)), bits), bits);
  };
  const __m256i magnitude = _mm256_sub_epi16(_mm256_set1_epi16(1), spread(s.negative[i]));
  _mm256_store_si256(reinterpret_cast<__m256i*>(c + i * kLanes), _mm256_and_si256(spread(s.nonzero[i]), magnitude));
}
#endif

#endif

/// Exchanges neighbouring words.
POLYKEM_INLINE Gf3 swap_adjacent(Gf3 a) {
  return pick<1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14>(a, a);
}

/// Computes c = a b modulo (3, Phi_kN) for kLanes items. Polynomials in y have kP = 2^j * kLeaf coefficients,
/// 8 kP >= kN.
template <size_t kN, size_t kP, size_t kLeaf, size_t kDepth>
struct TernaryProduct {
  static_assert(8 * kP >= kN && 8 * kP < 2 * kN);
  using Inner = Karatsuba<kP, kLeaf, kDepth, Gf3>;
  static constexpr size_t kPlane = 16 * kP + 2 * kWordsPerReg;  // words: a linear product and the overrun of a load
  static constexpr size_t kPlaneBytes = kPlane * sizeof(SliceWord);
  static_assert(kPlaneBytes % 64 == 0);
  static constexpr size_t kRows = 4 * kP + 4 * kP + Inner::kTmpRows;
  static constexpr size_t kWorkspaceBytes = 2 * kPlaneBytes + kRows * Gf3::kRowWords * sizeof(uint16_t);

  static POLYKEM_NOINLINE void mul(uint16_t* c, const uint16_t* a, const uint16_t* b, uint16_t* workspace) {
    const SlicedPoly words = {reinterpret_cast<SliceWord*>(workspace),
                              reinterpret_cast<SliceWord*>(workspace) + kPlane};
    uint16_t* ea = workspace + kPlaneBytes;  // two planes, in 16-bit words
    uint16_t* eb = ea + 2 * kP * Gf3::kRowWords;
    uint16_t* w = eb + 2 * kP * Gf3::kRowWords;
    uint16_t* tmp = w + 4 * kP * Gf3::kRowWords;
    slice(words, a);
    evaluate(ea, words);
    slice(words, b);
    evaluate(eb, words);
    Inner::mul(w, ea, eb, tmp);
    Inner::mul(w + 2 * kP * Gf3::kRowWords, ea + kP * Gf3::kRowWords, eb + kP * Gf3::kRowWords, tmp);
    interpolate(words, w);
    reduce(words);
    for (size_t i = 0; i < kN; ++i)
      unslice_row(c, words, i);
  }

 private:
  static POLYKEM_NOINLINE void slice(SlicedPoly s, const uint16_t* a) {
    slice_rows(s, 0, a, kN);
    for (size_t i = kN; i < 8 * kP + kWordsPerReg; ++i)
      s.nonzero[i] = s.negative[i] = 0;
  }

  /// Evaluates the polynomials a_l for three Karatsuba levels. In rows 0 .. kP - 1 of e, words 0 .. 7 are the a_l,
  /// words 8 .. 11 their sums at distance 4, and words 12 .. 15 zero. Rows from kP on have, for each of the three
  /// groups of four, the two sums at distance 2 and the two at distance 1; their words 12 .. 14 are the sums of four.
  static POLYKEM_NOINLINE void evaluate(uint16_t* e, SlicedPoly s) {
    for (size_t i = 0; i < kP; ++i) {
      const Gf3 x = s.load(8 * i);
      const Gf3 far = x + pick<4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7>(x, x);
      Gf3 first = pick<0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 16, 17, 18, 19>(x, far);
      first.nonzero = first_twelve(first.nonzero);
      const Gf3 by2 = first + pick<2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13>(first, first);
      const Gf3 by1 = first + swap_adjacent(first);
      const Gf3 all = by2 + swap_adjacent(by2);
      const Gf3 mixed = pick<0, 1, 16, 18, 4, 5, 20, 22, 8, 9, 24, 26, 8, 9, 24, 26>(by2, by1);
      store_row(e, i, first);
      store_row(e, kP + i, pick<0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 16, 20, 24, 31>(mixed, all));
    }
  }

  /// Returns the coefficients of x^0 .. x^14 that row i of the 27 products makes, in words 0 .. 14. Word 15 is zero.
  static POLYKEM_INLINE Gf3 interpolate_row(const uint16_t* w, size_t i) {
    // Word 15 of both is zero; it is picked where nothing is added.
    const Gf3 a = load_row<Gf3>(w, i);
    const Gf3 b = load_row<Gf3>(w, 2 * kP + i);
    // Sums at distance 1 and sums of four become middle coefficients, in place.
    const Gf3 m = (b - pick<15, 15, 0, 2, 15, 15, 4, 6, 15, 15, 8, 10, 16, 20, 24, 15>(a, b)) -
                  pick<15, 15, 1, 3, 15, 15, 5, 7, 15, 15, 9, 11, 17, 21, 25, 15>(a, b);
    // Each group of four words has three coefficients of the products of the low pairs, of the high pairs, of the sums.
    // From these come the middle ones of the products of four.
    const Gf3 middle = (pick<0, 12, 1, 15, 4, 13, 5, 15, 8, 14, 9, 15, 15, 15, 15, 15>(m, m) -
                        pick<0, 18, 1, 15, 4, 22, 5, 15, 8, 26, 9, 15, 15, 15, 15, 15>(a, m)) -
                       pick<2, 19, 3, 15, 6, 23, 7, 15, 10, 27, 11, 15, 15, 15, 15, 15>(a, m);
    // Groups 0 and 1 go to words 0 .. 6 and 8 .. 14; group 2, the product of their sums, goes to words 0 .. 6.
    const Gf3 outer = pick<0, 18, 1, 15, 2, 19, 3, 15, 4, 22, 5, 15, 6, 23, 7, 15>(a, m) +
                      pick<15, 15, 0, 1, 2, 15, 15, 15, 15, 15, 4, 5, 6, 15, 15, 15>(middle, middle);
    const Gf3 inner = pick<8, 26, 9, 15, 10, 27, 11, 15, 15, 15, 15, 15, 15, 15, 15, 15>(a, m) +
                      pick<15, 15, 8, 9, 10, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15>(middle, middle);
    const Gf3 cross =
        (inner - outer) - pick<8, 9, 10, 11, 12, 13, 14, 15, 15, 15, 15, 15, 15, 15, 15, 15>(outer, outer);
    return outer + pick<31, 31, 31, 31, 0, 1, 2, 3, 4, 5, 6, 31, 31, 31, 31, 31>(cross, outer);
  }

  static POLYKEM_NOINLINE void interpolate(SlicedPoly s, const uint16_t* w) {
    Gf3 carry = Gf3::zero();
    for (size_t i = 0; i + 1 < 2 * kP; ++i) {
      const Gf3 row = interpolate_row(w, i) + carry;
      s.store(8 * i, row);
      carry = pick<8, 9, 10, 11, 12, 13, 14, 15, 16, 16, 16, 16, 16, 16, 16, 16>(row, Gf3::zero());
    }
    s.store(8 * (2 * kP - 1), carry);
  }

  /// Reduces modulo x^n - 1, then modulo Phi_n: the last coefficient is subtracted from all.
  static POLYKEM_NOINLINE void reduce(SlicedPoly s) {
    for (size_t i = 0; i < kN; i += kWordsPerReg)
      s.store(i, s.load(i) + s.load(kN + i));
    const Gf3 last = {all_words(s.nonzero[kN - 1]), all_words(s.negative[kN - 1])};
    for (size_t i = 0; i < kN; i += kWordsPerReg)
      s.store(i, s.load(i) - last);
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::polymul
