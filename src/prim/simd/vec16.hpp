// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "prim/simd/isa.hpp"

#ifdef POLYKEM_ISA_NEON
#include "prim/simd/neon/vec16.hpp"
#else

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace polykem::simd {
inline namespace POLYKEM_ISA {

/// 16-bit lanes, one item per lane: 32 lanes with AVX-512BW, 16 with AVX2. All arithmetic is modulo 2^16.
struct V16 {
#ifdef POLYKEM_ISA_AVX512
  using Reg = __m512i;
  static constexpr size_t kLanes = 32;
#else
  using Reg = __m256i;
  static constexpr size_t kLanes = 16;
#endif
  static constexpr size_t kRowWords = kLanes;
  Reg r;

#ifdef POLYKEM_ISA_AVX512
  static POLYKEM_INLINE V16 load(const uint16_t* p) {
    return {_mm512_load_si512(p)};
  }
  static POLYKEM_INLINE V16 load_unaligned(const uint16_t* p) {
    return {_mm512_loadu_si512(p)};
  }
  static POLYKEM_INLINE V16 set1(uint16_t x) {
    return {_mm512_set1_epi16(static_cast<short>(x))};
  }
  static POLYKEM_INLINE V16 zero() {
    return {_mm512_setzero_si512()};
  }
  POLYKEM_INLINE void store(uint16_t* p) const {
    _mm512_store_si512(p, r);
  }
  POLYKEM_INLINE void store_unaligned(uint16_t* p) const {
    _mm512_storeu_si512(p, r);
  }
  friend POLYKEM_INLINE V16 operator+(V16 a, V16 b) {
    return {_mm512_add_epi16(a.r, b.r)};
  }
  friend POLYKEM_INLINE V16 operator-(V16 a, V16 b) {
    return {_mm512_sub_epi16(a.r, b.r)};
  }
  friend POLYKEM_INLINE V16 operator*(V16 a, V16 b) {
    return {_mm512_mullo_epi16(a.r, b.r)};
  }
  friend POLYKEM_INLINE V16 operator&(V16 a, V16 b) {
    return {_mm512_and_si512(a.r, b.r)};
  }
  friend POLYKEM_INLINE V16 operator|(V16 a, V16 b) {
    return {_mm512_or_si512(a.r, b.r)};
  }
  friend POLYKEM_INLINE V16 operator^(V16 a, V16 b) {
    return {_mm512_xor_si512(a.r, b.r)};
  }
  template <int kBits>
  POLYKEM_INLINE V16 shl() const {
    return {_mm512_slli_epi16(r, kBits)};
  }
  template <int kBits>
  POLYKEM_INLINE V16 shr() const {
    return {_mm512_srli_epi16(r, kBits)};
  }
  template <int kBits>
  POLYKEM_INLINE V16 sar() const {
    return {_mm512_srai_epi16(r, kBits)};
  }
  /// Returns the upper 16 bits of the unsigned product.
  friend POLYKEM_INLINE V16 mulhi_u(V16 a, V16 b) {
    return {_mm512_mulhi_epu16(a.r, b.r)};
  }
  /// Returns the upper 16 bits of the signed product.
  friend POLYKEM_INLINE V16 mulhi_s(V16 a, V16 b) {
    return {_mm512_mulhi_epi16(a.r, b.r)};
  }
  /// Returns (a b + 2^14) >> 15, signed.
  friend POLYKEM_INLINE V16 mulhrs(V16 a, V16 b) {
    return {_mm512_mulhrs_epi16(a.r, b.r)};
  }
  /// Returns the same two words in every pair of lanes.
  static POLYKEM_INLINE V16 set1_pair(uint32_t x) {
    return {_mm512_set1_epi32(static_cast<int>(x))};
  }
  friend POLYKEM_INLINE V16 min_u(V16 a, V16 b) {
    return {_mm512_min_epu16(a.r, b.r)};
  }
  /// Returns x + 1 where a > b, signed, and x elsewhere.
  friend POLYKEM_INLINE V16 plus_one_if_greater(V16 x, V16 a, V16 b) {
    return {_mm512_mask_add_epi16(x.r, _mm512_cmpgt_epi16_mask(a.r, b.r), x.r, _mm512_set1_epi16(1))};
  }
#else
  static POLYKEM_INLINE V16 load(const uint16_t* p) {
    return {_mm256_load_si256(reinterpret_cast<const Reg*>(p))};
  }
  static POLYKEM_INLINE V16 load_unaligned(const uint16_t* p) {
    return {_mm256_loadu_si256(reinterpret_cast<const Reg*>(p))};
  }
  static POLYKEM_INLINE V16 set1(uint16_t x) {
    return {_mm256_set1_epi16(static_cast<short>(x))};
  }
  static POLYKEM_INLINE V16 zero() {
    return {_mm256_setzero_si256()};
  }
  POLYKEM_INLINE void store(uint16_t* p) const {
    _mm256_store_si256(reinterpret_cast<Reg*>(p), r);
  }
  POLYKEM_INLINE void store_unaligned(uint16_t* p) const {
    _mm256_storeu_si256(reinterpret_cast<Reg*>(p), r);
  }
  friend POLYKEM_INLINE V16 operator+(V16 a, V16 b) {
    return {_mm256_add_epi16(a.r, b.r)};
  }
  friend POLYKEM_INLINE V16 operator-(V16 a, V16 b) {
    return {_mm256_sub_epi16(a.r, b.r)};
  }
  friend POLYKEM_INLINE V16 operator*(V16 a, V16 b) {
    return {_mm256_mullo_epi16(a.r, b.r)};
  }
  friend POLYKEM_INLINE V16 operator&(V16 a, V16 b) {
    return {_mm256_and_si256(a.r, b.r)};
  }
  friend POLYKEM_INLINE V16 operator|(V16 a, V16 b) {
    return {_mm256_or_si256(a.r, b.r)};
  }
  friend POLYKEM_INLINE V16 operator^(V16 a, V16 b) {
    return {_mm256_xor_si256(a.r, b.r)};
  }
  template <int kBits>
  POLYKEM_INLINE V16 shl() const {
    return {_mm256_slli_epi16(r, kBits)};
  }
  template <int kBits>
  POLYKEM_INLINE V16 shr() const {
    return {_mm256_srli_epi16(r, kBits)};
  }
  template <int kBits>
  POLYKEM_INLINE V16 sar() const {
    return {_mm256_srai_epi16(r, kBits)};
  }
  friend POLYKEM_INLINE V16 mulhi_u(V16 a, V16 b) {
    return {_mm256_mulhi_epu16(a.r, b.r)};
  }
  friend POLYKEM_INLINE V16 mulhi_s(V16 a, V16 b) {
    return {_mm256_mulhi_epi16(a.r, b.r)};
  }
  friend POLYKEM_INLINE V16 mulhrs(V16 a, V16 b) {
    return {_mm256_mulhrs_epi16(a.r, b.r)};
  }
  static POLYKEM_INLINE V16 set1_pair(uint32_t x) {
    return {_mm256_set1_epi32(static_cast<int>(x))};
  }
  friend POLYKEM_INLINE V16 min_u(V16 a, V16 b) {
    return {_mm256_min_epu16(a.r, b.r)};
  }
  friend POLYKEM_INLINE V16 plus_one_if_greater(V16 x, V16 a, V16 b) {
    return {_mm256_sub_epi16(x.r, _mm256_cmpgt_epi16(a.r, b.r))};
  }
#endif
};

/// Hides from the optimiser how x was computed, so that it does not spread a difference that is used twice over its
/// uses.
POLYKEM_INLINE V16 opaque(V16 x) {
  asm("" : "+v"(x.r));
  return x;
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::simd

#endif
