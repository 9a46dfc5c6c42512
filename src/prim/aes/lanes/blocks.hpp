// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "prim/simd/isa.hpp"

namespace polykem::aes {
inline namespace POLYKEM_ISA {

/// A register of AES blocks: four with AVX-512 and VAES, two with AVX2 and VAES, one with AES-NI.
struct Blocks {
#ifdef POLYKEM_ISA_AVX512
  static constexpr size_t kCount = 4;
  __m512i r;

  static POLYKEM_INLINE Blocks all(__m128i block) {
    return {_mm512_broadcast_i32x4(block)};
  }
  /// Returns blocks that begin with `word`, lowest byte first, and are zero otherwise.
  static POLYKEM_INLINE Blocks of_word(uint32_t word) {
    return {_mm512_maskz_set1_epi32(0x1111, static_cast<int>(word))};
  }
  /// Returns blocks that begin with the words 0, step, 2 * step, .., lowest byte first, and are zero otherwise.
  static POLYKEM_INLINE Blocks of_multiples(int step) {
    return {_mm512_set_epi32(0, 0, 0, 3 * step, 0, 0, 0, 2 * step, 0, 0, 0, step, 0, 0, 0, 0)};
  }
  /// Loads `count` blocks and sets the others to zero.
  static POLYKEM_INLINE Blocks load(const void* p, size_t count) {
    return {_mm512_maskz_loadu_epi64(words(count), p)};
  }
  POLYKEM_INLINE void store(void* p) const {
    _mm512_storeu_si512(p, r);
  }
  /// Stores the first `count` blocks.
  POLYKEM_INLINE void store(void* p, size_t count) const {
    _mm512_mask_storeu_epi64(p, words(count), r);
  }
  friend POLYKEM_INLINE Blocks operator^(Blocks a, Blocks b) {
    return {_mm512_xor_si512(a.r, b.r)};
  }
  /// Adds 32-bit word by 32-bit word.
  friend POLYKEM_INLINE Blocks operator+(Blocks a, Blocks b) {
    return {_mm512_add_epi32(a.r, b.r)};
  }
  POLYKEM_INLINE Blocks round(Blocks key) const {
    return {_mm512_aesenc_epi128(r, key.r)};
  }
  POLYKEM_INLINE Blocks last_round(Blocks key) const {
    return {_mm512_aesenclast_epi128(r, key.r)};
  }

 private:
  static POLYKEM_INLINE __mmask8 words(size_t count) {
    return static_cast<__mmask8>((1u << (2 * count)) - 1);
  }
#elif defined(__VAES__)
  static constexpr size_t kCount = 2;
  __m256i r;

  static POLYKEM_INLINE Blocks all(__m128i block) {
    return {_mm256_broadcastsi128_si256(block)};
  }
  static POLYKEM_INLINE Blocks of_word(uint32_t word) {
    return all(_mm_cvtsi32_si128(static_cast<int>(word)));
  }
  static POLYKEM_INLINE Blocks of_multiples(int step) {
    return {_mm256_set_epi32(0, 0, 0, step, 0, 0, 0, 0)};
  }
  static POLYKEM_INLINE Blocks load(const void* p, size_t count) {
    if (count == 1) return {_mm256_zextsi128_si256(_mm_loadu_si128(static_cast<const __m128i*>(p)))};
    return {_mm256_loadu_si256(static_cast<const __m256i*>(p))};
  }
  POLYKEM_INLINE void store(void* p) const {
    _mm256_storeu_si256(static_cast<__m256i*>(p), r);
  }
  POLYKEM_INLINE void store(void* p, size_t count) const {
    if (count == 1) return _mm_storeu_si128(static_cast<__m128i*>(p), _mm256_castsi256_si128(r));
    store(p);
  }
  friend POLYKEM_INLINE Blocks operator^(Blocks a, Blocks b) {
    return {_mm256_xor_si256(a.r, b.r)};
  }
  friend POLYKEM_INLINE Blocks operator+(Blocks a, Blocks b) {
    return {_mm256_add_epi32(a.r, b.r)};
  }
  POLYKEM_INLINE Blocks round(Blocks key) const {
    return {_mm256_aesenc_epi128(r, key.r)};
  }
  POLYKEM_INLINE Blocks last_round(Blocks key) const {
    return {_mm256_aesenclast_epi128(r, key.r)};
  }
#else
  static constexpr size_t kCount = 1;
  __m128i r;

  static POLYKEM_INLINE Blocks all(__m128i block) {
    return {block};
  }
  static POLYKEM_INLINE Blocks of_word(uint32_t word) {
    return {_mm_cvtsi32_si128(static_cast<int>(word))};
  }
  static POLYKEM_INLINE Blocks of_multiples(int) {
    return {_mm_setzero_si128()};
  }
  static POLYKEM_INLINE Blocks load(const void* p, size_t) {
    return {_mm_loadu_si128(static_cast<const __m128i*>(p))};
  }
  POLYKEM_INLINE void store(void* p) const {
    _mm_storeu_si128(static_cast<__m128i*>(p), r);
  }
  POLYKEM_INLINE void store(void* p, size_t) const {
    store(p);
  }
  friend POLYKEM_INLINE Blocks operator^(Blocks a, Blocks b) {
    return {_mm_xor_si128(a.r, b.r)};
  }
  friend POLYKEM_INLINE Blocks operator+(Blocks a, Blocks b) {
    return {_mm_add_epi32(a.r, b.r)};
  }
  POLYKEM_INLINE Blocks round(Blocks key) const {
    return {_mm_aesenc_si128(r, key.r)};
  }
  POLYKEM_INLINE Blocks last_round(Blocks key) const {
    return {_mm_aesenclast_si128(r, key.r)};
  }
#endif
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::aes
