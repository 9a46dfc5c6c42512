// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/isa.hpp"
#if defined(POLYKEM_ISA_AVX512) || defined(POLYKEM_ISA_AVX2)
#include <immintrin.h>
#endif

#define POLYKEM_LAC_INLINE inline __attribute__((always_inline))

namespace polykem::lac {
inline namespace POLYKEM_ISA {

/// A string of 512 bits. Masks are all ones or zero; they and the indices may be secrets.
struct Bits {
  static constexpr size_t kCount = 512;

#ifdef POLYKEM_ISA_AVX512
  __m512i r;

  static POLYKEM_LAC_INLINE Bits zero() {
    return {_mm512_setzero_si512()};
  }
  /// Returns bit `index` alone, or no bit if the index is negative or not below 512. A shift by 64 or more gives zero.
  static POLYKEM_LAC_INLINE Bits one(int64_t index) {
    const __m512i first = _mm512_set_epi64(448, 384, 320, 256, 192, 128, 64, 0);
    return {_mm512_sllv_epi64(_mm512_set1_epi64(1), _mm512_sub_epi64(_mm512_set1_epi64(index), first))};
  }
  friend POLYKEM_LAC_INLINE Bits operator|(Bits a, Bits b) {
    return {_mm512_or_si512(a.r, b.r)};
  }
  friend POLYKEM_LAC_INLINE Bits operator&(Bits a, uint64_t mask) {
    return {_mm512_and_si512(a.r, _mm512_set1_epi64(static_cast<long long>(mask)))};
  }
  POLYKEM_LAC_INLINE Bits without(Bits b) const {
    return {_mm512_andnot_si512(b.r, r)};
  }
  /// Returns all ones if a bit is one, else 0.
  POLYKEM_LAC_INLINE uint64_t any() const {
    const uint64_t lanes = _mm512_test_epi64_mask(r, r);
    return uint64_t{0} - ((lanes | (uint64_t{0} - lanes)) >> 63);
  }
  POLYKEM_LAC_INLINE uint32_t ones() const {
    const __m512i table = _mm512_broadcast_i32x4(nibble_ones()), low = _mm512_set1_epi8(15);
    const __m512i sum = _mm512_add_epi8(_mm512_shuffle_epi8(table, _mm512_and_si512(r, low)),
                                        _mm512_shuffle_epi8(table, _mm512_and_si512(_mm512_srli_epi64(r, 4), low)));
    return static_cast<uint32_t>(_mm512_reduce_add_epi64(_mm512_sad_epu8(sum, _mm512_setzero_si512())));
  }
  POLYKEM_LAC_INLINE void store(uint64_t* out) const {
    _mm512_storeu_si512(out, r);
  }
#elif defined(POLYKEM_ISA_AVX2)
  __m256i r[2];

  static POLYKEM_LAC_INLINE Bits zero() {
    return {{_mm256_setzero_si256(), _mm256_setzero_si256()}};
  }
  static POLYKEM_LAC_INLINE Bits one(int64_t index) {
    const __m256i from = _mm256_set1_epi64x(index), one = _mm256_set1_epi64x(1);
    return {{_mm256_sllv_epi64(one, _mm256_sub_epi64(from, _mm256_set_epi64x(192, 128, 64, 0))),
             _mm256_sllv_epi64(one, _mm256_sub_epi64(from, _mm256_set_epi64x(448, 384, 320, 256)))}};
  }
  friend POLYKEM_LAC_INLINE Bits operator|(Bits a, Bits b) {
    return {{_mm256_or_si256(a.r[0], b.r[0]), _mm256_or_si256(a.r[1], b.r[1])}};
  }
  friend POLYKEM_LAC_INLINE Bits operator&(Bits a, uint64_t mask) {
    const __m256i all = _mm256_set1_epi64x(static_cast<long long>(mask));
    return {{_mm256_and_si256(a.r[0], all), _mm256_and_si256(a.r[1], all)}};
  }
  POLYKEM_LAC_INLINE Bits without(Bits b) const {
    return {{_mm256_andnot_si256(b.r[0], r[0]), _mm256_andnot_si256(b.r[1], r[1])}};
  }
  POLYKEM_LAC_INLINE uint64_t any() const {
    const __m256i both = _mm256_or_si256(r[0], r[1]);
    return uint64_t{0} - static_cast<uint64_t>(1 - _mm256_testz_si256(both, both));
  }
  POLYKEM_LAC_INLINE uint32_t ones() const {
    const __m256i table = _mm256_broadcastsi128_si256(nibble_ones()), low = _mm256_set1_epi8(15);
    __m256i sum = _mm256_setzero_si256();
    for (const __m256i& half : r) {
      sum = _mm256_add_epi8(sum, _mm256_shuffle_epi8(table, _mm256_and_si256(half, low)));
      sum = _mm256_add_epi8(sum, _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi64(half, 4), low)));
    }
    sum = _mm256_sad_epu8(sum, _mm256_setzero_si256());
    const __m128i two = _mm_add_epi64(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
    return static_cast<uint32_t>(_mm_cvtsi128_si64(two) + _mm_extract_epi64(two, 1));
  }
  POLYKEM_LAC_INLINE void store(uint64_t* out) const {
    std::memcpy(out, r, sizeof r);
  }
#else
  uint64_t r[8];

  static POLYKEM_LAC_INLINE Bits zero() {
    return {};
  }
  static POLYKEM_LAC_INLINE Bits one(int64_t index) {
    const auto word = static_cast<uint64_t>(index) / 64, bit = uint64_t{1} << (index % 64 & 63);
    Bits out;
    for (size_t i = 0; i < 8; ++i)
      out.r[i] = bit & (uint64_t{0} - (((word ^ i) - 1) >> 63));
    return out;
  }
  friend POLYKEM_LAC_INLINE Bits operator|(Bits a, Bits b) {
    for (size_t i = 0; i < 8; ++i)
      a.r[i] |= b.r[i];
    return a;
  }
  friend POLYKEM_LAC_INLINE Bits operator&(Bits a, uint64_t mask) {
    for (uint64_t& word : a.r)
      word &= mask;
    return a;
  }
  POLYKEM_LAC_INLINE Bits without(Bits b) const {
    Bits out;
    for (size_t i = 0; i < 8; ++i)
      out.r[i] = r[i] & ~b.r[i];
    return out;
  }
  POLYKEM_LAC_INLINE uint64_t any() const {
    uint64_t x = 0;
    for (const uint64_t word : r)
      x |= word;
    return uint64_t{0} - ((x | (uint64_t{0} - x)) >> 63);
  }
  /// Counts the ones without the compiler's own function, which looks up a table.
  POLYKEM_LAC_INLINE uint32_t ones() const {
    uint64_t sum = 0;
    for (uint64_t x : r) {
      x -= x >> 1 & 0x5555555555555555u;
      x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
      x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;
      sum += (x * 0x0101010101010101u) >> 56;
    }
    return static_cast<uint32_t>(sum);
  }
  POLYKEM_LAC_INLINE void store(uint64_t* out) const {
    std::memcpy(out, r, sizeof r);
  }
#endif

#if defined(POLYKEM_ISA_AVX512) || defined(POLYKEM_ISA_AVX2)
 private:
  static POLYKEM_LAC_INLINE __m128i nibble_ones() {
    return _mm_set_epi8(4, 3, 3, 2, 3, 2, 2, 1, 3, 2, 2, 1, 2, 1, 1, 0);
  }
#endif
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::lac
