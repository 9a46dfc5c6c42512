// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "prim/simd/isa.hpp"

#ifdef POLYKEM_ISA_NEON
#include "prim/simd/neon/vec32.hpp"
#else

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "prim/simd/vec16.hpp"

namespace polykem::simd {
inline namespace POLYKEM_ISA {

/// 32-bit lanes, one item per lane: 16 lanes with AVX-512, 8 with AVX2; two of them hold the items of one V16.
struct V32 {
#ifdef POLYKEM_ISA_AVX512
  using Reg = __m512i;
  static constexpr size_t kLanes = 16;
  Reg r;

  static POLYKEM_INLINE V32 load(const int32_t* p) {
    return {_mm512_load_si512(p)};
  }
  static POLYKEM_INLINE V32 set1(int32_t x) {
    return {_mm512_set1_epi32(x)};
  }
  POLYKEM_INLINE void store(int32_t* p) const {
    _mm512_store_si512(p, r);
  }
  friend POLYKEM_INLINE V32 operator|(V32 a, V32 b) {
    return {_mm512_or_si512(a.r, b.r)};
  }
  friend POLYKEM_INLINE V32 operator+(V32 a, V32 b) {
    return {_mm512_add_epi32(a.r, b.r)};
  }
  friend POLYKEM_INLINE V32 operator-(V32 a, V32 b) {
    return {_mm512_sub_epi32(a.r, b.r)};
  }
  /// Returns the lower words of the products.
  friend POLYKEM_INLINE V32 operator*(V32 a, V32 b) {
    return {_mm512_mullo_epi32(a.r, b.r)};
  }
  /// Returns the 64-bit products of the even lanes, signed.
  friend POLYKEM_INLINE V32 wide_product(V32 a, V32 b) {
    return {_mm512_mul_epi32(a.r, b.r)};
  }
  friend POLYKEM_INLINE V32 wide_add(V32 a, V32 b) {
    return {_mm512_add_epi64(a.r, b.r)};
  }
  friend POLYKEM_INLINE V32 wide_sub(V32 a, V32 b) {
    return {_mm512_sub_epi64(a.r, b.r)};
  }
  /// Returns the odd lanes, in the even ones.
  POLYKEM_INLINE V32 odd() const {
    return {_mm512_srli_epi64(r, 32)};
  }
  /// Returns the upper halves of 64-bit words: those of `even` in the even lanes, those of `odd` in the odd ones.
  static POLYKEM_INLINE V32 upper_halves(V32 even, V32 odd) {
    return {_mm512_mask_shuffle_epi32(odd.r, 0x5555, even.r, static_cast<_MM_PERM_ENUM>(0xf5))};
  }
  friend POLYKEM_INLINE V32 min_s(V32 a, V32 b) {
    return {_mm512_min_epi32(a.r, b.r)};
  }
  friend POLYKEM_INLINE V32 max_s(V32 a, V32 b) {
    return {_mm512_max_epi32(a.r, b.r)};
  }
  /// Lane i of the result is lane index[i] of a.
  friend POLYKEM_INLINE V32 permuted(V32 a, V32 index) {
    return {_mm512_permutexvar_epi32(index.r, a.r)};
  }
  static POLYKEM_INLINE V32 load_unaligned(const int32_t* p) {
    return {_mm512_loadu_si512(p)};
  }
  POLYKEM_INLINE void store_unaligned(int32_t* p) const {
    _mm512_storeu_si512(p, r);
  }
  friend POLYKEM_INLINE V32 operator&(V32 a, V32 b) {
    return {_mm512_and_si512(a.r, b.r)};
  }
  /// Returns mask ? a : b, bit by bit.
  friend POLYKEM_INLINE V32 select(V32 mask, V32 a, V32 b) {
    return {_mm512_ternarylogic_epi32(mask.r, a.r, b.r, 0xca)};
  }
  /// Returns the upper word of (high:low) << kBits, kBits in 0..32.
  template <int kBits>
  static POLYKEM_INLINE V32 shl_pair(V32 high, V32 low) {
    if constexpr (kBits == 0) return high;
    if constexpr (kBits == 32) return low;
    return {_mm512_shldi_epi32(high.r, low.r, kBits % 32)};
  }
  /// Stores the low halves of the lanes.
  POLYKEM_INLINE void store_low16(uint16_t* p) const {
    _mm256_store_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtepi32_epi16(r));
  }
  /// Returns the low halves of the lanes of a, then of b.
  friend POLYKEM_INLINE V16 low_halves(V32 a, V32 b) {
    return {_mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi32_epi16(a.r)), _mm512_cvtepi32_epi16(b.r), 1)};
  }
#else
  using Reg = __m256i;
  static constexpr size_t kLanes = 8;
  Reg r;

  static POLYKEM_INLINE V32 load(const int32_t* p) {
    return {_mm256_load_si256(reinterpret_cast<const Reg*>(p))};
  }
  static POLYKEM_INLINE V32 set1(int32_t x) {
    return {_mm256_set1_epi32(x)};
  }
  POLYKEM_INLINE void store(int32_t* p) const {
    _mm256_store_si256(reinterpret_cast<Reg*>(p), r);
  }
  friend POLYKEM_INLINE V32 operator|(V32 a, V32 b) {
    return {_mm256_or_si256(a.r, b.r)};
  }
  friend POLYKEM_INLINE V32 operator+(V32 a, V32 b) {
    return {_mm256_add_epi32(a.r, b.r)};
  }
  friend POLYKEM_INLINE V32 operator-(V32 a, V32 b) {
    return {_mm256_sub_epi32(a.r, b.r)};
  }
  friend POLYKEM_INLINE V32 operator*(V32 a, V32 b) {
    return {_mm256_mullo_epi32(a.r, b.r)};
  }
  friend POLYKEM_INLINE V32 wide_product(V32 a, V32 b) {
    return {_mm256_mul_epi32(a.r, b.r)};
  }
  friend POLYKEM_INLINE V32 wide_add(V32 a, V32 b) {
    return {_mm256_add_epi64(a.r, b.r)};
  }
  friend POLYKEM_INLINE V32 wide_sub(V32 a, V32 b) {
    return {_mm256_sub_epi64(a.r, b.r)};
  }
  POLYKEM_INLINE V32 odd() const {
    return {_mm256_srli_epi64(r, 32)};
  }
  static POLYKEM_INLINE V32 upper_halves(V32 even, V32 odd) {
    return {_mm256_blend_epi32(_mm256_shuffle_epi32(even.r, 0xf5), odd.r, 0xaa)};
  }
  friend POLYKEM_INLINE V32 min_s(V32 a, V32 b) {
    return {_mm256_min_epi32(a.r, b.r)};
  }
  friend POLYKEM_INLINE V32 max_s(V32 a, V32 b) {
    return {_mm256_max_epi32(a.r, b.r)};
  }
  friend POLYKEM_INLINE V32 permuted(V32 a, V32 index) {
    return {_mm256_permutevar8x32_epi32(a.r, index.r)};
  }
  static POLYKEM_INLINE V32 load_unaligned(const int32_t* p) {
    return {_mm256_loadu_si256(reinterpret_cast<const Reg*>(p))};
  }
  POLYKEM_INLINE void store_unaligned(int32_t* p) const {
    _mm256_storeu_si256(reinterpret_cast<Reg*>(p), r);
  }
  friend POLYKEM_INLINE V32 operator&(V32 a, V32 b) {
    return {_mm256_and_si256(a.r, b.r)};
  }
  friend POLYKEM_INLINE V32 select(V32 mask, V32 a, V32 b) {
    return {_mm256_or_si256(_mm256_and_si256(mask.r, a.r), _mm256_andnot_si256(mask.r, b.r))};
  }
  template <int kBits>
  static POLYKEM_INLINE V32 shl_pair(V32 high, V32 low) {
    if constexpr (kBits == 0) return high;
    if constexpr (kBits == 32) return low;
    return {_mm256_or_si256(_mm256_slli_epi32(high.r, kBits % 32), _mm256_srli_epi32(low.r, (32 - kBits) % 32))};
  }
  POLYKEM_INLINE void store_low16(uint16_t* p) const {
    const __m256i packed = _mm256_packus_epi32(r, r);
    _mm_store_si128(reinterpret_cast<__m128i*>(p), _mm256_castsi256_si128(_mm256_permute4x64_epi64(packed, 0x08)));
  }
  friend POLYKEM_INLINE V16 low_halves(V32 a, V32 b) {
    const Reg mask = _mm256_set1_epi32(0xffff);
    const Reg packed = _mm256_packus_epi32(_mm256_and_si256(a.r, mask), _mm256_and_si256(b.r, mask));
    return {_mm256_permute4x64_epi64(packed, 0xd8)};
  }
#endif
};

/// Loads four consecutive 32-bit words, at `offset` bytes, of each of kLanes rows: lane i of out[j] is word j of row i.
POLYKEM_INLINE void load_words4(V32 (&out)[4], const uint8_t* const* rows, size_t offset) {
  V32::Reg in[4];
  asm("" : "+r"(rows));  // otherwise the compiler keeps the addresses in vector registers
  const auto quarter = [&](size_t row) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(rows[row] + offset));
  };
  for (size_t i = 0; i < 4; ++i) {
#ifdef POLYKEM_ISA_AVX512
    in[i] = _mm512_castsi128_si512(quarter(i));
    in[i] = _mm512_inserti32x4(in[i], quarter(i + 4), 1);
    in[i] = _mm512_inserti32x4(in[i], quarter(i + 8), 2);
    in[i] = _mm512_inserti32x4(in[i], quarter(i + 12), 3);
#else
    in[i] = _mm256_inserti128_si256(_mm256_castsi128_si256(quarter(i)), quarter(i + 4), 1);
#endif
  }
#ifdef POLYKEM_ISA_AVX512
  const __m512i a = _mm512_unpacklo_epi32(in[0], in[1]), b = _mm512_unpackhi_epi32(in[0], in[1]);
  const __m512i c = _mm512_unpacklo_epi32(in[2], in[3]), d = _mm512_unpackhi_epi32(in[2], in[3]);
  out[0].r = _mm512_unpacklo_epi64(a, c);
  out[1].r = _mm512_unpackhi_epi64(a, c);
  out[2].r = _mm512_unpacklo_epi64(b, d);
  out[3].r = _mm512_unpackhi_epi64(b, d);
#else
  const __m256i a = _mm256_unpacklo_epi32(in[0], in[1]), b = _mm256_unpackhi_epi32(in[0], in[1]);
  const __m256i c = _mm256_unpacklo_epi32(in[2], in[3]), d = _mm256_unpackhi_epi32(in[2], in[3]);
  out[0].r = _mm256_unpacklo_epi64(a, c);
  out[1].r = _mm256_unpackhi_epi64(a, c);
  out[2].r = _mm256_unpacklo_epi64(b, d);
  out[3].r = _mm256_unpackhi_epi64(b, d);
#endif
}

/// Transposes kLanes vectors of kLanes 32-bit words: word j of vector i becomes word i of vector j.
#ifdef POLYKEM_ISA_AVX512
POLYKEM_INLINE void transpose32(__m512i (&r)[16]) {
  __m512i t[16];
  for (int i = 0; i < 16; i += 4) {
    const __m512i a = _mm512_unpacklo_epi32(r[i], r[i + 1]), b = _mm512_unpackhi_epi32(r[i], r[i + 1]);
    const __m512i c = _mm512_unpacklo_epi32(r[i + 2], r[i + 3]), d = _mm512_unpackhi_epi32(r[i + 2], r[i + 3]);
    t[i] = _mm512_unpacklo_epi64(a, c);
    t[i + 1] = _mm512_unpackhi_epi64(a, c);
    t[i + 2] = _mm512_unpacklo_epi64(b, d);
    t[i + 3] = _mm512_unpackhi_epi64(b, d);
  }
  for (int k = 0; k < 4; ++k) {
    const __m512i a = _mm512_shuffle_i32x4(t[k], t[4 + k], 0x88), b = _mm512_shuffle_i32x4(t[k], t[4 + k], 0xdd);
    const __m512i c = _mm512_shuffle_i32x4(t[8 + k], t[12 + k], 0x88),
                  d = _mm512_shuffle_i32x4(t[8 + k], t[12 + k], 0xdd);
    r[k] = _mm512_shuffle_i32x4(a, c, 0x88);
    r[4 + k] = _mm512_shuffle_i32x4(b, d, 0x88);
    r[8 + k] = _mm512_shuffle_i32x4(a, c, 0xdd);
    r[12 + k] = _mm512_shuffle_i32x4(b, d, 0xdd);
  }
}
#else
POLYKEM_INLINE void transpose32(__m256i (&r)[8]) {
  __m256i t[8];
  for (int i = 0; i < 8; i += 4) {
    const __m256i a = _mm256_unpacklo_epi32(r[i], r[i + 1]), b = _mm256_unpackhi_epi32(r[i], r[i + 1]);
    const __m256i c = _mm256_unpacklo_epi32(r[i + 2], r[i + 3]), d = _mm256_unpackhi_epi32(r[i + 2], r[i + 3]);
    t[i] = _mm256_unpacklo_epi64(a, c);
    t[i + 1] = _mm256_unpackhi_epi64(a, c);
    t[i + 2] = _mm256_unpacklo_epi64(b, d);
    t[i + 3] = _mm256_unpackhi_epi64(b, d);
  }
  for (int k = 0; k < 4; ++k) {
    r[k] = _mm256_permute2x128_si256(t[k], t[4 + k], 0x20);
    r[4 + k] = _mm256_permute2x128_si256(t[k], t[4 + k], 0x31);
  }
}
#endif
POLYKEM_INLINE void transpose32(V32 (&v)[V32::kLanes]) {
  V32::Reg r[V32::kLanes];
#pragma GCC unroll 16
  for (size_t i = 0; i < V32::kLanes; ++i)
    r[i] = v[i].r;
  transpose32(r);
#pragma GCC unroll 16
  for (size_t i = 0; i < V32::kLanes; ++i)
    v[i].r = r[i];
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::simd

#endif
