// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/unroll.hpp"
#include "prim/polymul/lanes/karatsuba.hpp"

namespace polykem::polymul {
inline namespace POLYKEM_ISA {

#ifdef POLYKEM_ISA_NEON

/// Loads the eight words at p and the eight at p + step.
POLYKEM_INLINE V16 load_parts(const uint16_t* p, size_t step) {
  return {{vld1q_u16(p), vld1q_u16(p + step)}};
}
using simd::unpack_high;
using simd::unpack_low;

#else

/// Loads the eight words at p, those at p + step, .. side by side: eight into each 128-bit part of the register.
POLYKEM_INLINE V16 load_parts(const uint16_t* p, size_t step) {
  const auto part = [&](size_t i) __attribute__((always_inline)) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + i * step));
  };
#ifdef POLYKEM_ISA_AVX512
  const __m256i low = _mm256_inserti128_si256(_mm256_castsi128_si256(part(0)), part(1), 1);
  const __m512i three = _mm512_inserti32x4(_mm512_castsi256_si512(low), part(2), 2);
  return {_mm512_inserti32x4(three, part(3), 3)};
#else
  return {_mm256_inserti128_si256(_mm256_castsi128_si256(part(0)), part(1), 1)};
#endif
}

POLYKEM_INLINE V16 unpack_low(V16 a, V16 b) {
#ifdef POLYKEM_ISA_AVX512
  return {_mm512_unpacklo_epi16(a.r, b.r)};
#else
  return {_mm256_unpacklo_epi16(a.r, b.r)};
#endif
}

POLYKEM_INLINE V16 unpack_high(V16 a, V16 b) {
#ifdef POLYKEM_ISA_AVX512
  return {_mm512_unpackhi_epi16(a.r, b.r)};
#else
  return {_mm256_unpackhi_epi16(a.r, b.r)};
#endif
}

#endif

/// Transposes a tile of kLanes rows of kColumns words: to[j * kToStep + i] = from[i * kFromStep + j]. Steps that are
/// not constant cost a register or a multiplication at each access.
template <size_t kToStep, size_t kFromStep, size_t kColumns = kLanes>
POLYKEM_NOINLINE void transpose_tile(uint16_t* to, const uint16_t* from) {
  constexpr size_t kPart = 8;
  for (size_t column = 0; column < kColumns; column += kPart) {
    V16 x[kPart];
    V16 y[kPart];
    unroll<kPart>([&](auto i) __attribute__((always_inline)) {
      x[i] = load_parts(from + i * kFromStep + column, kPart * kFromStep);
    });
    // Three rounds of perfect shuffles transpose the 8 x 8 words of every 128-bit part.
    const auto round = [](V16(&out)[kPart], const V16(&in)[kPart]) __attribute__((always_inline)) {
      unroll<kPart / 2>([&](auto i) __attribute__((always_inline)) {
        out[2 * i] = unpack_low(in[i], in[i + kPart / 2]);
        out[2 * i + 1] = unpack_high(in[i], in[i + kPart / 2]);
      });
    };
    round(y, x);
    round(x, y);
    round(y, x);
    unroll<kPart>([&](auto j) __attribute__((always_inline)) { y[j].store_unaligned(to + (column + j) * kToStep); });
  }
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::polymul
