// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "schoolbook_words.hpp"

namespace polykem::lab {
inline namespace POLYKEM_ISA {

/// Returns acc + x0 y0 + x1 y1 for the two bytes of every 16-bit lane.
POLYKEM_INLINE V16 dot_bytes(V16 sum, V16 x, V16 y) {
#ifdef POLYKEM_ISA_AVX512
  return {_mm512_add_epi16(sum.r, _mm512_maddubs_epi16(x.r, y.r))};
#else
  return {_mm256_add_epi16(sum.r, _mm256_maddubs_epi16(x.r, y.r))};
#endif
}

/// Returns x modulo 3 for any 16-bit x.
POLYKEM_INLINE V16 remainder3(V16 x) {
  const V16 quotient = mulhi_u(x, V16::set1(43691)).template shr<1>();
  return x - (quotient + quotient + quotient);
}

/// Reduces a product modulo x^n - 1 modulo Phi_n. Its coefficients are exact and below 2^bits.
inline void reduce_s3(uint16_t* c, size_t n, unsigned bits) {
  const V16 mask = V16::set1(static_cast<uint16_t>((1u << bits) - 1));
  const V16 minus_last = V16::set1(3) - remainder3(load_row(c, n - 1) & mask);
  for (size_t i = 0; i < n; ++i)
    store_row(c, i, remainder3((load_row(c, i) & mask) + minus_last));
}

/// Products modulo 3 with two coefficients in a 16-bit lane: the schoolbook at twice the rate of words. The 32-bit
/// form, vpdpbusd, has four coefficients in a lane of half as many items, the same products per instruction.
template <size_t kN>
struct TernaryBytes {
  static constexpr size_t kK = 12;
  static constexpr size_t kI = 6;
  static constexpr size_t kPairs = blocks_of((kN + 1) / 2, kI) * kI;
  static constexpr size_t kOutputs = blocks_of(kN, kK) * kK;
  static constexpr size_t kBRows = kOutputs + 2 * kPairs;
  static constexpr size_t kWorkspaceBytes = (kPairs + kBRows + kOutputs) * kLanes * sizeof(uint16_t);
  static constexpr double kFloor = static_cast<double>(kN) * kN / (4.0 * kLanes);

  static void mul(uint16_t* c, const uint16_t* a, const uint16_t* b, void* workspace) {
    uint16_t* pa = static_cast<uint16_t*>(workspace);
    uint16_t* pb = pa + kPairs * kLanes;
    uint16_t* sums = pb + kBRows * kLanes;
    const auto row = [&](size_t i) { return i < kN ? load_row(a, i) : V16::zero(); };
    for (size_t i = 0; i < kPairs; ++i)
      store_row(pa, i, row(2 * i) | row(2 * i + 1).template shl<8>());
    size_t j = (2 * kN - 2 * kPairs % kN) % kN;
    for (size_t i = 0; i < kBRows; ++i, j = j + 1 == kN ? 0 : j + 1) {
      store_row(pb, i, load_row(b, j) | load_row(b, j == 0 ? kN - 1 : j - 1).template shl<8>());
    }
    for (size_t k = 0; k < kOutputs; k += kK)
      tile(sums + k * kLanes, pa, pb + k * kLanes);
    for (size_t k = 0; k < kN; ++k)
      store_row(c, k, load_row(sums, k));
    reduce_s3(c, kN, 15);
  }

 private:
  static POLYKEM_NOINLINE void tile(uint16_t* out, const uint16_t* pa, const uint16_t* pb) {
    V16 sum[kK];
    for (V16& s : sum)
      s = V16::zero();
    for (size_t i = 0; i < kPairs; i += kI) {
      V16 x[kI];
      unroll<kI>([&](auto t) __attribute__((always_inline)) { x[t] = load_row(pa, i + t); });
      const uint16_t* rows = pb + (2 * kPairs - 2 * i - 2 * (kI - 1)) * kLanes;
      unroll<kK + 2 * (kI - 1)>([&](auto d) __attribute__((always_inline)) {
        const V16 y = load_row(rows, d);
        unroll<kI>([&](auto t) __attribute__((always_inline)) {
          constexpr size_t shift = 2 * (kI - 1 - t);
          if constexpr (d >= shift && d - shift < kK) sum[d - shift] = dot_bytes(sum[d - shift], x[t], y);
        });
      });
    }
    unroll<kK>([&](auto k) __attribute__((always_inline)) { store_row(out, k, sum[k]); });
  }
};

/// Computes products modulo 3 by a product over the integers, whose coefficients stay below 4 n < 2^bits.
template <size_t kN, class Cyclic, unsigned kBits>
struct TernaryWords {
  static_assert(4 * kN < (1u << kBits));
  static constexpr size_t kWorkspaceBytes = Cyclic::kWorkspaceRows * kLanes * sizeof(uint16_t);

  static void mul(uint16_t* c, const uint16_t* a, const uint16_t* b, void* workspace) {
    Cyclic::mul(c, a, b, static_cast<uint16_t*>(workspace));
    reduce_s3(c, kN, kBits);
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::lab
