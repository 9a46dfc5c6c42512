// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "prim/simd/vec16.hpp"

namespace polykem::polyinv {
inline namespace POLYKEM_ISA {

using simd::V16;

inline constexpr size_t kRegisterWords = V16::kLanes;

/// Returns all ones in the lanes where bit `bit` of x is set.
POLYKEM_INLINE V16 spread_bit(V16 x, size_t bit) {
#ifdef POLYKEM_ISA_NEON
  return x.shl_by(15 - bit).sar<15>();
#else
  const __m128i count = _mm_cvtsi32_si128(static_cast<int>(15 - bit));
#ifdef POLYKEM_ISA_AVX512
  return V16{_mm512_sll_epi16(x.r, count)}.sar<15>();
#else
  return V16{_mm256_sll_epi16(x.r, count)}.sar<15>();
#endif
#endif
}

#ifdef POLYKEM_ISA_AVX512
template <int kTable>
POLYKEM_INLINE V16 logic3(V16 a, V16 b, V16 c) {
  return {_mm512_ternarylogic_epi64(a.r, b.r, c.r, kTable)};
}
#elif defined(POLYKEM_ISA_AVX2)
/// Returns b & ~a.
POLYKEM_INLINE V16 and_not(V16 a, V16 b) {
  return {_mm256_andnot_si256(a.r, b.r)};
}
#endif

/// The layout of polynomials in a register: one in each 16-bit lane.
struct ItemLanes {
  /// The number of a polynomial's coefficients in one register.
  static constexpr size_t kBits = 16;

  /// Moves every polynomial's bits up by one; its lowest bit becomes the highest bit of `below`.
  static POLYKEM_INLINE V16 shift_up(V16 a, V16 below) {
#ifdef POLYKEM_ISA_AVX512
    return {_mm512_shldi_epi16(a.r, below.r, 1)};
#elif defined(POLYKEM_ISA_NEON)
    return {{vsriq_n_u16(a.r.low + a.r.low, below.r.low, 15), vsriq_n_u16(a.r.high + a.r.high, below.r.high, 15)}};
#else
    return (a + a) | below.shr<15>();
#endif
  }

  /// Returns a register with bit `bit` of each polynomial in bit `bit` % 16 of all its lanes.
  static POLYKEM_INLINE V16 load_around(const uint16_t* p, size_t /*bit*/) {
    return V16::load(p);
  }
};

/// The layout of one polynomial in the whole register.
struct SingleItem {
  static constexpr size_t kBits = 8 * sizeof(V16::Reg);

  static POLYKEM_INLINE V16 shift_up(V16 a, V16 below) {
#ifdef POLYKEM_ISA_AVX512
    return {_mm512_shldi_epi64(a.r, _mm512_maskz_alignr_epi64(0xff, a.r, below.r, 7), 1)};
#elif defined(POLYKEM_ISA_NEON)
    const auto moved = [](uint16x8_t x, uint16x8_t before) __attribute__((always_inline)) {
      const uint64x2_t words = vreinterpretq_u64_u16(x);
      const uint64x2_t word_below = vextq_u64(vreinterpretq_u64_u16(before), words, 1);
      return vreinterpretq_u16_u64(vsriq_n_u64(words + words, word_below, 63));
    };
    return {{moved(a.r.low, below.r.high), moved(a.r.high, a.r.low)}};
#else
    const __m256i middle = _mm256_permute2x128_si256(below.r, a.r, 0x21);
    const __m256i word_below = _mm256_alignr_epi8(a.r, middle, 8);
    return {_mm256_or_si256(_mm256_add_epi64(a.r, a.r), _mm256_srli_epi64(word_below, 63))};
#endif
  }

  static POLYKEM_INLINE V16 load_around(const uint16_t* p, size_t bit) {
    return V16::set1(p[bit / 16]);
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::polyinv
