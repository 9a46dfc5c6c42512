// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <immintrin.h>

#include "prim/simd/vec32.hpp"

namespace polykem::sha256 {
inline namespace POLYKEM_ISA {

/// 32-bit words of as many messages as a register has lanes, with the functions of [FIPS180, 4.1.2].
struct Words {
#ifdef POLYKEM_ISA_AVX512
  static constexpr size_t kLanes = 16;
  __m512i r;

  static POLYKEM_INLINE Words set1(uint32_t x) {
    return {_mm512_set1_epi32(static_cast<int>(x))};
  }
  friend POLYKEM_INLINE Words operator+(Words a, Words b) {
    return {_mm512_add_epi32(a.r, b.r)};
  }
  template <int kA, int kB, int kC>
  POLYKEM_INLINE Words rotations() const {
    return {_mm512_ternarylogic_epi32(_mm512_ror_epi32(r, kA), _mm512_ror_epi32(r, kB), _mm512_ror_epi32(r, kC), 0x96)};
  }
  template <int kA, int kB, int kShift>
  POLYKEM_INLINE Words schedule() const {
    return {_mm512_ternarylogic_epi32(_mm512_ror_epi32(r, kA), _mm512_ror_epi32(r, kB), _mm512_srli_epi32(r, kShift),
                                      0x96)};
  }
  static POLYKEM_INLINE Words choose(Words e, Words f, Words g) {
    return {_mm512_ternarylogic_epi32(e.r, f.r, g.r, 0xca)};
  }
  static POLYKEM_INLINE Words majority(Words a, Words b, Words c) {
    return {_mm512_ternarylogic_epi32(a.r, b.r, c.r, 0xe8)};
  }
  POLYKEM_INLINE Words swapped() const {
    return {_mm512_shuffle_epi8(r, _mm512_broadcast_i32x4(order()))};
  }
  static POLYKEM_INLINE Words load(const void* p) {
    return {_mm512_loadu_si512(p)};
  }
#else
  static constexpr size_t kLanes = 8;
  __m256i r;

  static POLYKEM_INLINE Words set1(uint32_t x) {
    return {_mm256_set1_epi32(static_cast<int>(x))};
  }
  friend POLYKEM_INLINE Words operator+(Words a, Words b) {
    return {_mm256_add_epi32(a.r, b.r)};
  }
  template <int kBits>
  POLYKEM_INLINE __m256i rotated() const {
    return _mm256_or_si256(_mm256_srli_epi32(r, kBits), _mm256_slli_epi32(r, 32 - kBits));
  }
  template <int kA, int kB, int kC>
  POLYKEM_INLINE Words rotations() const {
    return {_mm256_xor_si256(_mm256_xor_si256(rotated<kA>(), rotated<kB>()), rotated<kC>())};
  }
  template <int kA, int kB, int kShift>
  POLYKEM_INLINE Words schedule() const {
    return {_mm256_xor_si256(_mm256_xor_si256(rotated<kA>(), rotated<kB>()), _mm256_srli_epi32(r, kShift))};
  }
  static POLYKEM_INLINE Words choose(Words e, Words f, Words g) {
    return {_mm256_xor_si256(g.r, _mm256_and_si256(e.r, _mm256_xor_si256(f.r, g.r)))};
  }
  static POLYKEM_INLINE Words majority(Words a, Words b, Words c) {
    return {_mm256_or_si256(_mm256_and_si256(a.r, b.r), _mm256_and_si256(c.r, _mm256_or_si256(a.r, b.r)))};
  }
  POLYKEM_INLINE Words swapped() const {
    return {_mm256_shuffle_epi8(r, _mm256_broadcastsi128_si256(order()))};
  }
  static POLYKEM_INLINE Words load(const void* p) {
    return {_mm256_loadu_si256(static_cast<const __m256i*>(p))};
  }
#endif

 private:
  static POLYKEM_INLINE __m128i order() {
    return _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::sha256
