// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "schoolbook_words.hpp"

namespace polykem::lab {
inline namespace POLYKEM_ISA {

/// Adds two products to each 32-bit sum: vpdpwssd, or vpmaddwd and vpaddd.
POLYKEM_INLINE V16 dot_pairs(V16 sum, V16 a, V16 b) {
#ifdef POLYKEM_ISA_AVX512
  return {_mm512_dpwssd_epi32(sum.r, a.r, b.r)};
#else
  return {_mm256_add_epi32(sum.r, _mm256_madd_epi16(a.r, b.r))};
#endif
}

POLYKEM_INLINE V16 interleave_low(V16 a, V16 b) {
#ifdef POLYKEM_ISA_AVX512
  return {_mm512_unpacklo_epi16(a.r, b.r)};
#else
  return {_mm256_unpacklo_epi16(a.r, b.r)};
#endif
}

POLYKEM_INLINE V16 interleave_high(V16 a, V16 b) {
#ifdef POLYKEM_ISA_AVX512
  return {_mm512_unpackhi_epi16(a.r, b.r)};
#else
  return {_mm256_unpackhi_epi16(a.r, b.r)};
#endif
}

/// Returns the low 16 bits of the 32-bit lanes of both halves, in the order of items.
POLYKEM_INLINE V16 join_halves(V16 low, V16 high) {
#ifdef POLYKEM_ISA_AVX512
  const __m512i mask = _mm512_set1_epi32(0xffff);
  return {_mm512_packus_epi32(_mm512_and_si512(low.r, mask), _mm512_and_si512(high.r, mask))};
#else
  const __m256i mask = _mm256_set1_epi32(0xffff);
  return {_mm256_packus_epi32(_mm256_and_si256(low.r, mask), _mm256_and_si256(high.r, mask))};
#endif
}

/// Schoolbook multiplication with two products at a time: a 32-bit lane holds a[2 i], a[2 i + 1], and b[j], b[j - 1]
/// for every j. Half of the items fit into a register. kK outputs are computed at once from kI pairs of a, and each
/// pair of b is loaded once.
template <size_t kN>
struct SchoolbookPairs {
  static constexpr size_t kK = 12;
  static constexpr size_t kI = 6;
  static constexpr size_t kPairs = blocks_of((kN + 1) / 2, kI) * kI;
  static constexpr size_t kOutputs = blocks_of(kN, kK) * kK;
  static constexpr size_t kBRows = kOutputs + 2 * kPairs;  // b[j] for j from -2 kPairs to kOutputs, cyclic
  static constexpr size_t kWorkspaceBytes = 2 * (kPairs + kBRows + kOutputs) * kLanes * sizeof(uint16_t);
  static constexpr double kFloor = static_cast<double>(kN) * kN / (2.0 * kLanes);

  static void mul(uint16_t* c, const uint16_t* a, const uint16_t* b, void* workspace) {
    uint16_t* pa = static_cast<uint16_t*>(workspace);
    uint16_t* pb = pa + 2 * kPairs * kLanes;
    uint16_t* sums = pb + 2 * kBRows * kLanes;
    const auto row = [&](size_t i) { return i < kN ? load_row(a, i) : V16::zero(); };
    for (size_t i = 0; i < kPairs; ++i) {
      store_row(pa, i, interleave_low(row(2 * i), row(2 * i + 1)));
      store_row(pa, kPairs + i, interleave_high(row(2 * i), row(2 * i + 1)));
    }
    size_t j = (2 * kN - 2 * kPairs % kN) % kN;
    for (size_t i = 0; i < kBRows; ++i, j = j + 1 == kN ? 0 : j + 1) {
      const V16 before = load_row(b, j == 0 ? kN - 1 : j - 1);
      store_row(pb, i, interleave_low(load_row(b, j), before));
      store_row(pb, kBRows + i, interleave_high(load_row(b, j), before));
    }
    for (size_t half = 0; half < 2; ++half) {
      for (size_t k = 0; k < kOutputs; k += kK) {
        tile(sums + (half * kOutputs + k) * kLanes, pa + half * kPairs * kLanes, pb + (half * kBRows + k) * kLanes);
      }
    }
    for (size_t k = 0; k < kN; ++k)
      store_row(c, k, join_halves(load_row(sums, k), load_row(sums, kOutputs + k)));
  }

 private:
  static POLYKEM_NOINLINE void tile(uint16_t* out, const uint16_t* pa, const uint16_t* pb) {
    V16 sum[kK];
    for (V16& s : sum)
      s = V16::zero();
    for (size_t i = 0; i < kPairs; i += kI) {
      V16 x[kI];
      unroll<kI>([&](auto t) __attribute__((always_inline)) { x[t] = load_row(pa, i + t); });
      // Row k - 2 i of b, offset by 2 kPairs. Each further pair t is two rows lower.
      const uint16_t* rows = pb + (2 * kPairs - 2 * i - 2 * (kI - 1)) * kLanes;
      unroll<kK + 2 * (kI - 1)>([&](auto d) __attribute__((always_inline)) {
        const V16 y = load_row(rows, d);
        unroll<kI>([&](auto t) __attribute__((always_inline)) {
          constexpr size_t shift = 2 * (kI - 1 - t);
          if constexpr (d >= shift && d - shift < kK) sum[d - shift] = dot_pairs(sum[d - shift], x[t], y);
        });
      });
    }
    unroll<kK>([&](auto k) __attribute__((always_inline)) { store_row(out, k, sum[k]); });
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::lab
