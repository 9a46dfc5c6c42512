// SPDX-License-Identifier: Apache-2.0
// Coefficients of one polynomial in the lanes of a register, and their Montgomery products.
#pragma once

#include <immintrin.h>

#include "prim/simd/vec32.hpp"
#include "schemes/mldsa/modulus.hpp"

namespace polykem::mldsa::lanes {
inline namespace POLYKEM_ISA {

using simd::V32;
inline constexpr size_t kLanes = V32::kLanes;

#ifdef POLYKEM_ISA_AVX512
using Words = __m512i;
POLYKEM_INLINE Words load(const int32_t* p) {
  return _mm512_load_si512(p);
}
POLYKEM_INLINE void store(int32_t* p, Words x) {
  _mm512_store_si512(p, x);
}
POLYKEM_INLINE Words all(int32_t x) {
  return _mm512_set1_epi32(x);
}
POLYKEM_INLINE Words add(Words a, Words b) {
  return _mm512_add_epi32(a, b);
}
POLYKEM_INLINE Words sub(Words a, Words b) {
  return _mm512_sub_epi32(a, b);
}
POLYKEM_INLINE Words odd(Words a) {
  return _mm512_srli_epi64(a, 32);
}
POLYKEM_INLINE Words wide_product(Words a, Words b) {
  return _mm512_mul_epi32(a, b);
}
POLYKEM_INLINE Words low_product(Words a, Words b) {
  return _mm512_mullo_epi32(a, b);
}
POLYKEM_INLINE Words wide_add(Words a, Words b) {
  return _mm512_add_epi64(a, b);
}
POLYKEM_INLINE Words wide_sub(Words a, Words b) {
  return _mm512_sub_epi64(a, b);
}
/// The upper halves of 64-bit words: even's in the even lanes, odd's in the odd ones.
POLYKEM_INLINE Words upper_halves(Words even, Words odd) {
  return _mm512_mask_shuffle_epi32(odd, 0x5555, even, static_cast<_MM_PERM_ENUM>(0xf5));
}
#else
using Words = __m256i;
POLYKEM_INLINE Words load(const int32_t* p) {
  return _mm256_load_si256(reinterpret_cast<const Words*>(p));
}
POLYKEM_INLINE void store(int32_t* p, Words x) {
  _mm256_store_si256(reinterpret_cast<Words*>(p), x);
}
POLYKEM_INLINE Words all(int32_t x) {
  return _mm256_set1_epi32(x);
}
POLYKEM_INLINE Words add(Words a, Words b) {
  return _mm256_add_epi32(a, b);
}
POLYKEM_INLINE Words sub(Words a, Words b) {
  return _mm256_sub_epi32(a, b);
}
POLYKEM_INLINE Words odd(Words a) {
  return _mm256_srli_epi64(a, 32);
}
POLYKEM_INLINE Words wide_product(Words a, Words b) {
  return _mm256_mul_epi32(a, b);
}
POLYKEM_INLINE Words low_product(Words a, Words b) {
  return _mm256_mullo_epi32(a, b);
}
POLYKEM_INLINE Words wide_add(Words a, Words b) {
  return _mm256_add_epi64(a, b);
}
POLYKEM_INLINE Words wide_sub(Words a, Words b) {
  return _mm256_sub_epi64(a, b);
}
POLYKEM_INLINE Words upper_halves(Words even, Words odd) {
  return _mm256_blend_epi32(_mm256_shuffle_epi32(even, 0xf5), odd, 0xaa);
}
#endif

/// A factor of montgomery() and its product with 1/q mod 2^32, which spares a multiplication.
struct Factor {
  Words value, by_inverse;
};

/// a b / 2^32 mod q in (-q, q), for |a b| <= 2^31 q.
POLYKEM_INLINE Words montgomery(Words a, Factor b) {
  const Words q = all(kQ), m = low_product(a, b.by_inverse);
  const Words even = wide_sub(wide_product(a, b.value), wide_product(m, q));
  const Words odds = wide_sub(wide_product(odd(a), odd(b.value)), wide_product(odd(m), q));
  return upper_halves(even, odds);
}

/// The same of 64-bit sums of products, those of the even and of the odd lanes.
POLYKEM_INLINE Words montgomery_of(Words even, Words odds) {
  const Words q = all(kQ), inverse = all(kInverseQ);
  const auto rest = [&](Words x) { return wide_sub(x, wide_product(low_product(x, inverse), q)); };
  return upper_halves(rest(even), rest(odds));
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::mldsa::lanes
