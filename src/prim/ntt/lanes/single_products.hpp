// SPDX-License-Identifier: Apache-2.0
// Products of transforms of one item, with V16::kLanes neighbouring coefficients in a register, so pairs are in place.
#pragma once

#include "core/unroll.hpp"
#include "prim/ntt/lanes/pairs.hpp"

namespace polykem::ntt {
inline namespace POLYKEM_ISA {

/// The words of a Twiddle whose lanes differ.
struct alignas(64) SingleFactors {
  uint16_t z[V16::kLanes] = {}, zq[V16::kLanes] = {};
  constexpr void set(size_t lane, const StoredTwiddle& factor) {
    z[lane] = static_cast<uint16_t>(factor.z);
    zq[lane] = static_cast<uint16_t>(factor.zq);
  }
  POLYKEM_INLINE Twiddle load() const { return {V16::load(z), V16::load(zq)}; }
};

/// The factors gamma in the odd lanes, 0 in the others.
inline constexpr auto kGammasOfOne = [] {
  std::array<SingleFactors, kN / V16::kLanes> factors{};
  for (size_t i = 1; i < kN; i += 2)
    factors[i / V16::kLanes].set(i % V16::kLanes, kGammaFactors[i / 2]);
  return factors;
}();

#ifdef POLYKEM_ISA_NEON

/// Returns a in the even lanes, b in the odd ones.
POLYKEM_INLINE V16 even_odd(V16 a, V16 b) {
  return select(V16::set1_pair(0xffff), a, b);
}
POLYKEM_INLINE V16 swapped_pairs(V16 y) {
  return {{vrev32q_u16(y.r.low), vrev32q_u16(y.r.high)}};
}
/// Returns 2^-16 times 32-bit sums mod q: those of `even` in the even lanes, those of `odd` in the odd ones. The result
/// is within |sum| / 2^16 + q / 2.
POLYKEM_INLINE V16 montgomery_pairs(V16 even, V16 odd) {
  const auto upper_to_lower = [](uint16x8_t y) __attribute__((always_inline)) {
    return vreinterpretq_u16_u32(vreinterpretq_u32_u16(y) >> 16);
  };
  const V16 upper = montgomery_upper(even);
  return even_odd({{upper_to_lower(upper.r.low), upper_to_lower(upper.r.high)}}, montgomery_upper(odd));
}

#else

/// Returns a in the even lanes, b in the odd ones.
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

/// Returns the lower words of 32-bit lanes: those of `even` in the even lanes, those of `odd` in the odd ones. It
/// shuffles bytes, since shifts have the unit that multiplications need.
POLYKEM_INLINE V16 lower_words(V16 even, V16 odd) {
#ifdef POLYKEM_ISA_AVX512
  return {_mm512_mask_shuffle_epi8(even.r, 0xcccccccccccccccc, odd.r,
                                   _mm512_set4_epi32(0x0d0c0000, 0x09080000, 0x05040000, 0x01000000))};
#else
  return even_odd(even, {_mm256_slli_epi32(odd.r, 16)});
#endif
}
/// Returns the upper words of 32-bit lanes: those of `even` in the even lanes, those of `odd` in the odd ones.
POLYKEM_INLINE V16 upper_words(V16 even, V16 odd) {
#ifdef POLYKEM_ISA_AVX512
  return {_mm512_mask_shuffle_epi8(odd.r, 0x3333333333333333, even.r,
                                   _mm512_set4_epi32(0x00000f0e, 0x00000b0a, 0x00000706, 0x00000302))};
#else
  return even_odd({_mm256_srli_epi32(even.r, 16)}, odd);
#endif
}

/// Returns 2^-16 times 32-bit sums mod q: those of `even` in the even lanes, those of `odd` in the odd ones. The result
/// is within |sum| / 2^16 + q / 2.
POLYKEM_INLINE V16 montgomery_pairs(V16 even, V16 odd) {
  const V16 multiple = lower_words(even, odd) * V16::set1(kQInverse);
  return upper_words(even, odd) - mulhi_s(multiple, V16::set1(kQ));
}

#endif

/// Calls use(at, x) for every register of a row: x[r] has the words from `at` on of 2^-16 times the sum of
/// a[r kTerms + i] y[i], i < kTerms <= 4, in (-q, q). `a` and `y` are transforms of 256 words in the order of ntt.hpp,
/// 64-byte aligned; coefficients of a are below 2^12, those of y in (-q, q). Rows are computed side by side, since the
/// instructions of each one wait for each other. [FIPS203, Alg 11]
template <size_t kTerms, size_t kRows, class Use>
POLYKEM_INLINE void each_product_single(const uint16_t* a, const uint16_t* y, Use&& use) {
  for (size_t i = 0; i < kN; i += V16::kLanes) {
    const Twiddle gamma = kGammasOfOne[i / V16::kLanes].load();
    V16 for_even[kTerms], for_odd[kTerms];
    unroll<kTerms>([&](auto term) __attribute__((always_inline)) {
      const V16 x = V16::load(y + term * kN + i);
      for_even[term] = even_odd(x, mul(x, gamma));
      for_odd[term] = swapped_pairs(x);
    });
    V16 even[kRows], odd[kRows], x[kRows];
    unroll<kRows>([&](auto row) __attribute__((always_inline)) { even[row] = odd[row] = V16::zero(); });
    unroll<kTerms>([&](auto term) __attribute__((always_inline)) {
      unroll<kRows>([&](auto row) __attribute__((always_inline)) {
        const V16 factor = V16::load(a + (row * kTerms + term) * kN + i);
        even[row] = add_products(even[row], factor, for_even[term]);  // within sum_bound(kTerms, kQ)
        odd[row] = add_products(odd[row], factor, for_odd[term]);
      });
    });
    unroll<kRows>([&](auto row) __attribute__((always_inline)) { x[row] = montgomery_pairs(even[row], odd[row]); });
    use(i, x);
  }
}

/// Sets row r of c to the sum of a[r kTerms + i] y[i], i < kTerms, canonical; operands are those of
/// each_product_single().
template <size_t kTerms, size_t kRows>
POLYKEM_INLINE void multiply_single_rows(uint16_t* c, const uint16_t* a, const uint16_t* y) {
  const Twiddle scale = Twiddle::of(StoredTwiddle::of(kR));
  each_product_single<kTerms, kRows>(
      a, y, [&](size_t at, V16(&x)[kRows]) __attribute__((always_inline)) {
        unroll<kRows>([&](auto row)
                          __attribute__((always_inline)) { to_unsigned(mul(x[row], scale)).store(c + row * kN + at); });
      });
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::ntt
