// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "prim/simd/isa.hpp"

#ifdef POLYKEM_ISA_NEON
#include "prim/simd/neon/vec64.hpp"
#else

#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace polykem::simd {
inline namespace POLYKEM_ISA {

/// 64-bit lanes, one item per lane: 8 lanes with AVX-512, 4 with AVX2.
struct V64 {
#ifdef POLYKEM_ISA_AVX512
  using Reg = __m512i;
  static constexpr size_t kLanes = 8;
#else
  using Reg = __m256i;
  static constexpr size_t kLanes = 4;
#endif
  Reg r;

#ifdef POLYKEM_ISA_AVX512
  static POLYKEM_INLINE V64 load(const void* p) {
    return {_mm512_load_si512(p)};
  }
  static POLYKEM_INLINE V64 load_unaligned(const void* p) {
    return {_mm512_loadu_si512(p)};
  }
  /// Loads the first `bytes` bytes at p, 0 <= bytes <= 64, and zeros; nothing else is read.
  static POLYKEM_INLINE V64 load_first(const void* p, size_t bytes) {
    return {_mm512_maskz_loadu_epi8(_bzhi_u64(~uint64_t{0}, static_cast<unsigned>(bytes)), p)};
  }
  /// Loads words: word i is at from[i] + offset.
  static POLYKEM_INLINE V64 load_each(const uint8_t* const (&from)[kLanes], size_t offset) {
    const auto at = [&](size_t i) { return word_at(from[i] + offset); };
    return {_mm512_set_epi64(at(7), at(6), at(5), at(4), at(3), at(2), at(1), at(0))};
  }
  static POLYKEM_INLINE V64 set1(uint64_t x) {
    return {_mm512_set1_epi64(static_cast<long long>(x))};
  }
  static POLYKEM_INLINE V64 zero() {
    return {_mm512_setzero_si512()};
  }
  POLYKEM_INLINE void store(void* p) const {
    _mm512_store_si512(p, r);
  }
  POLYKEM_INLINE void store_unaligned(void* p) const {
    _mm512_storeu_si512(p, r);
  }
  /// Stores the first `bytes` bytes, 0 <= bytes <= 64.
  POLYKEM_INLINE void store_first(void* p, size_t bytes) const {
    _mm512_mask_storeu_epi8(p, _bzhi_u64(~uint64_t{0}, static_cast<unsigned>(bytes)), r);
  }
  friend POLYKEM_INLINE V64 operator+(V64 a, V64 b) {
    return {_mm512_add_epi64(a.r, b.r)};
  }
  friend POLYKEM_INLINE V64 operator-(V64 a, V64 b) {
    return {_mm512_sub_epi64(a.r, b.r)};
  }
  friend POLYKEM_INLINE V64 operator&(V64 a, V64 b) {
    return {_mm512_and_si512(a.r, b.r)};
  }
  friend POLYKEM_INLINE V64 operator|(V64 a, V64 b) {
    return {_mm512_or_si512(a.r, b.r)};
  }
  friend POLYKEM_INLINE V64 operator^(V64 a, V64 b) {
    return {_mm512_xor_si512(a.r, b.r)};
  }
  template <int kBits>
  POLYKEM_INLINE V64 shl() const {
    return {_mm512_slli_epi64(r, kBits)};
  }
  template <int kBits>
  POLYKEM_INLINE V64 shr() const {
    return {_mm512_srli_epi64(r, kBits)};
  }
  template <int kBits>
  POLYKEM_INLINE V64 rol() const {
    if constexpr (kBits == 0) return *this;
    return {_mm512_rol_epi64(r, kBits)};
  }
  friend POLYKEM_INLINE V64 xor3(V64 a, V64 b, V64 c) {
    return {_mm512_ternarylogic_epi64(a.r, b.r, c.r, 0x96)};
  }
  /// Returns a ^ (~b & c).
  friend POLYKEM_INLINE V64 xor_andnot(V64 a, V64 b, V64 c) {
    return {_mm512_ternarylogic_epi64(a.r, b.r, c.r, 0xd2)};
  }
  /// Returns mask ? a : b, bit by bit.
  friend POLYKEM_INLINE V64 select(V64 mask, V64 a, V64 b) {
    return {_mm512_ternarylogic_epi64(mask.r, a.r, b.r, 0xca)};
  }
  /// Returns the upper word of (a:b) << kBits.
  template <int kBits>
  static POLYKEM_INLINE V64 shl_pair(V64 a, V64 b) {
    return {_mm512_shldi_epi64(a.r, b.r, kBits)};
  }
#else
  static POLYKEM_INLINE V64 load(const void* p) {
    return {_mm256_load_si256(static_cast<const Reg*>(p))};
  }
  static POLYKEM_INLINE V64 load_unaligned(const void* p) {
    return {_mm256_loadu_si256(static_cast<const Reg*>(p))};
  }
  static POLYKEM_INLINE V64 load_first(const void* p, size_t bytes) {
    alignas(32) uint8_t first[32] = {};
    std::memcpy(first, p, bytes);
    const V64 words = load(first);
    zero().store(first);
    asm volatile("" : : "r"(first) : "memory");
    return words;
  }
  static POLYKEM_INLINE V64 load_each(const uint8_t* const (&from)[kLanes], size_t offset) {
    const auto at = [&](size_t i) { return word_at(from[i] + offset); };
    return {_mm256_set_epi64x(at(3), at(2), at(1), at(0))};
  }
  static POLYKEM_INLINE V64 set1(uint64_t x) {
    return {_mm256_set1_epi64x(static_cast<long long>(x))};
  }
  static POLYKEM_INLINE V64 zero() {
    return {_mm256_setzero_si256()};
  }
  POLYKEM_INLINE void store(void* p) const {
    _mm256_store_si256(static_cast<Reg*>(p), r);
  }
  POLYKEM_INLINE void store_unaligned(void* p) const {
    _mm256_storeu_si256(static_cast<__m256i_u*>(p), r);
  }
  POLYKEM_INLINE void store_first(void* p, size_t bytes) const {
    alignas(32) uint8_t words[32];
    store(words);
    std::memcpy(p, words, bytes);
    zero().store(words);
    asm volatile("" : : "r"(words) : "memory");
  }
  friend POLYKEM_INLINE V64 operator+(V64 a, V64 b) {
    return {_mm256_add_epi64(a.r, b.r)};
  }
  friend POLYKEM_INLINE V64 operator-(V64 a, V64 b) {
    return {_mm256_sub_epi64(a.r, b.r)};
  }
  friend POLYKEM_INLINE V64 operator&(V64 a, V64 b) {
    return {_mm256_and_si256(a.r, b.r)};
  }
  friend POLYKEM_INLINE V64 operator|(V64 a, V64 b) {
    return {_mm256_or_si256(a.r, b.r)};
  }
  friend POLYKEM_INLINE V64 operator^(V64 a, V64 b) {
    return {_mm256_xor_si256(a.r, b.r)};
  }
  template <int kBits>
  POLYKEM_INLINE V64 shl() const {
    return {_mm256_slli_epi64(r, kBits)};
  }
  template <int kBits>
  POLYKEM_INLINE V64 shr() const {
    return {_mm256_srli_epi64(r, kBits)};
  }
  template <int kBits>
  POLYKEM_INLINE V64 rol() const {
    return {_mm256_or_si256(_mm256_slli_epi64(r, kBits), _mm256_srli_epi64(r, 64 - kBits))};
  }
  friend POLYKEM_INLINE V64 xor3(V64 a, V64 b, V64 c) {
    return a ^ b ^ c;
  }
  friend POLYKEM_INLINE V64 xor_andnot(V64 a, V64 b, V64 c) {
    return {_mm256_xor_si256(a.r, _mm256_andnot_si256(b.r, c.r))};
  }
  friend POLYKEM_INLINE V64 select(V64 mask, V64 a, V64 b) {
    return b ^ (mask & (a ^ b));
  }
  template <int kBits>
  static POLYKEM_INLINE V64 shl_pair(V64 a, V64 b) {
    return a.shl<kBits>() | b.shr<64 - kBits>();
  }
#endif

 private:
  static POLYKEM_INLINE long long word_at(const uint8_t* p) {
    long long word;
    std::memcpy(&word, p, sizeof word);
    return word;
  }
};

/// Transposes kLanes x kLanes 64-bit words: afterwards lane i of v[j] is what lane j of v[i] was.
POLYKEM_INLINE void transpose_words(V64 (&v)[V64::kLanes]) {
#ifdef POLYKEM_ISA_AVX512
  __m512i a[8], b[8];
  for (int i = 0; i < 8; i += 2) {
    a[i] = _mm512_unpacklo_epi64(v[i].r, v[i + 1].r);
    a[i + 1] = _mm512_unpackhi_epi64(v[i].r, v[i + 1].r);
  }
  for (int i = 0; i < 8; i += 4) {
    for (int j = 0; j < 2; ++j) {
      b[i + j] = _mm512_shuffle_i64x2(a[i + j], a[i + j + 2], 0x88);
      b[i + j + 2] = _mm512_shuffle_i64x2(a[i + j], a[i + j + 2], 0xdd);
    }
  }
  for (int j = 0; j < 4; ++j) {
    v[j].r = _mm512_shuffle_i64x2(b[j], b[j + 4], 0x88);
    v[j + 4].r = _mm512_shuffle_i64x2(b[j], b[j + 4], 0xdd);
  }
#else
  const __m256i a0 = _mm256_unpacklo_epi64(v[0].r, v[1].r), a1 = _mm256_unpackhi_epi64(v[0].r, v[1].r);
  const __m256i a2 = _mm256_unpacklo_epi64(v[2].r, v[3].r), a3 = _mm256_unpackhi_epi64(v[2].r, v[3].r);
  v[0].r = _mm256_permute2x128_si256(a0, a2, 0x20);
  v[1].r = _mm256_permute2x128_si256(a1, a3, 0x20);
  v[2].r = _mm256_permute2x128_si256(a0, a2, 0x31);
  v[3].r = _mm256_permute2x128_si256(a1, a3, 0x31);
#endif
}

/// Transposes words as transpose_words() does, where lane i of v[j] is in memory, 8 i bytes after at(j). Loads of half
/// vectors save a third of the shuffles, for which Intel has one unit.
template <class At>
POLYKEM_INLINE void load_transposed(V64 (&v)[V64::kLanes], At&& at) {
#ifdef POLYKEM_ISA_AVX512
  const auto halves = [&](size_t i, size_t half) __attribute__((always_inline)) {
    const auto part = [&](size_t j) __attribute__((always_inline)) {
      return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at(j)) + half);
    };
    return _mm512_inserti64x4(_mm512_castsi256_si512(part(i)), part(i + 2), 1);
  };
  for (size_t half = 0; half < 2; ++half) {
    const __m512i a = halves(0, half), b = halves(1, half), c = halves(4, half), d = halves(5, half);
    const __m512i even = _mm512_unpacklo_epi64(a, b), odd = _mm512_unpackhi_epi64(a, b);
    const __m512i more_even = _mm512_unpacklo_epi64(c, d), more_odd = _mm512_unpackhi_epi64(c, d);
    v[4 * half].r = _mm512_shuffle_i64x2(even, more_even, 0x88);
    v[4 * half + 1].r = _mm512_shuffle_i64x2(odd, more_odd, 0x88);
    v[4 * half + 2].r = _mm512_shuffle_i64x2(even, more_even, 0xdd);
    v[4 * half + 3].r = _mm512_shuffle_i64x2(odd, more_odd, 0xdd);
  }
#else
  const auto halves = [&](size_t i, size_t half) __attribute__((always_inline)) {
    const auto part = [&](size_t j) __attribute__((always_inline)) {
      return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at(j)) + half);
    };
    return _mm256_inserti128_si256(_mm256_castsi128_si256(part(i)), part(i + 2), 1);
  };
  for (size_t half = 0; half < 2; ++half) {
    const __m256i a = halves(0, half), b = halves(1, half);
    v[2 * half].r = _mm256_unpacklo_epi64(a, b);
    v[2 * half + 1].r = _mm256_unpackhi_epi64(a, b);
  }
#endif
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::simd

#endif
