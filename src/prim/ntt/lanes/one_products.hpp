// SPDX-License-Identifier: Apache-2.0
// Products of transforms of one item: V16::kLanes neighbouring coefficients in a register, so pairs are in place.
#pragma once

#include "prim/ntt/lanes/pairs.hpp"

namespace polykem::ntt {
inline namespace POLYKEM_ISA {

/// Words of a Twiddle whose lanes differ.
struct alignas(64) OneFactors {
  uint16_t z[V16::kLanes] = {}, zq[V16::kLanes] = {};
  constexpr void set(size_t lane, const Factor& factor) {
    z[lane] = static_cast<uint16_t>(factor.z);
    zq[lane] = static_cast<uint16_t>(factor.zq);
  }
  POLYKEM_INLINE Twiddle load() const { return {V16::load(z), V16::load(zq)}; }
};

/// The factors gamma in the odd lanes, 0 in the others.
inline constexpr auto kGammasOfOne = [] {
  std::array<OneFactors, kN / V16::kLanes> factors{};
  for (size_t i = 1; i < kN; i += 2)
    factors[i / V16::kLanes].set(i % V16::kLanes, kGammaFactors[i / 2]);
  return factors;
}();

#ifdef POLYKEM_ISA_NEON

/// a in the even lanes, b in the odd ones.
POLYKEM_INLINE V16 even_odd(V16 a, V16 b) {
  return select(V16::set1_pair(0xffff), a, b);
}
POLYKEM_INLINE V16 swapped_pairs(V16 y) {
  return {{vrev32q_u16(y.r.low), vrev32q_u16(y.r.high)}};
}
POLYKEM_INLINE V16 upper_to_lower(V16 x) {
  const auto half = [](uint16x8_t y) __attribute__((always_inline)) {
    return vreinterpretq_u16_u32(vreinterpretq_u32_u16(y) >> 16);
  };
  return {{half(x.r.low), half(x.r.high)}};
}

#else

/// a in the even lanes, b in the odd ones.
POLYKEM_INLINE V16 even_odd(V16 a, V16 b) {
#ifdef POLYKEM_ISA_AVX512
  return {_mm512_mask_blend_epi16(0xaaaaaaaa, a.r, b.r)};
#else
  return {_mm256_blend_epi16(a.r, b.r, 0xaa)};
#endif
}

POLYKEM_INLINE V16 swapped_pairs(V16 y) {
#ifdef POLYKEM_ISA_AVX512
  return {_mm512_rol_epi32(y.r, 16)};
#else
  return {_mm256_or_si256(_mm256_slli_epi32(y.r, 16), _mm256_srli_epi32(y.r, 16))};
#endif
}

POLYKEM_INLINE V16 upper_to_lower(V16 x) {
#ifdef POLYKEM_ISA_AVX512
  return {_mm512_srli_epi32(x.r, 16)};
#else
  return {_mm256_srli_epi32(x.r, 16)};
#endif
}

#endif

/// Row r of c, r < rows = the sum of a[r kTerms + i] y[i], i < kTerms <= 4: transforms of 256 words in the order of
/// ntt.hpp, 64-byte aligned. Coefficients of a below 2^12, of y in (-q, q). What is stored from word `at` of c on is
/// finish(at, x), where x is 2^-16 times the sum, in (-q, q). [FIPS203, Alg 11]
template <size_t kTerms, class Finish>
POLYKEM_INLINE void multiply_one_rows(uint16_t* c, const uint16_t* a, const uint16_t* y, size_t rows, Finish&& finish) {
  for (size_t i = 0; i < kN; i += V16::kLanes) {
    const Twiddle gamma = kGammasOfOne[i / V16::kLanes].load();
    V16 for_even[kTerms], for_odd[kTerms];
    unroll<kTerms>([&](auto term) __attribute__((always_inline)) {
      const V16 x = V16::load(y + term * kN + i);
      for_even[term] = even_odd(x, mul(x, gamma));
      for_odd[term] = swapped_pairs(x);
    });
    for (size_t row = 0; row < rows; ++row) {
      V16 even = V16::zero(), odd = even;  // at most 2 kTerms 2^12 q
      unroll<kTerms>([&](auto term) __attribute__((always_inline)) {
        const V16 x = V16::load(a + (row * kTerms + term) * kN + i);
        even = add_products(even, x, for_even[term]);
        odd = add_products(odd, x, for_odd[term]);
      });
      const V16 pairs = even_odd(upper_to_lower(montgomery_upper(even)), montgomery_upper(odd));
      finish(row * kN + i, pairs).store(c + row * kN + i);
    }
  }
}

/// The same, canonical.
template <size_t kTerms>
POLYKEM_INLINE void multiply_one_rows(uint16_t* c, const uint16_t* a, const uint16_t* y, size_t rows) {
  const Twiddle scale = Twiddle::of(Factor::of(kR));
  multiply_one_rows<kTerms>(
      c, a, y, rows, [&](size_t, V16 x) __attribute__((always_inline)) { return positive(mul(x, scale)); });
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::ntt
