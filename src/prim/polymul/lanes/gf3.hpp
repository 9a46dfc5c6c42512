// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "prim/simd/isa.hpp"

#ifdef POLYKEM_ISA_NEON
#include "prim/polymul/neon/gf3.hpp"
#else

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace polykem::polymul {
inline namespace POLYKEM_ISA {

/// As many elements of GF(3) as the register has bits, each at one bit position: `nonzero` is set if the element is 1
/// or 2, `negative` if it is 2. Where the element is 0, the bit of `negative` is undefined; so a product takes two
/// operations and, with three-input logic, a sum takes three (found by exhaustive search; two are impossible).
struct Gf3 {
#ifdef POLYKEM_ISA_AVX512
  using Reg = __m512i;
#else
  using Reg = __m256i;
#endif
  static constexpr size_t kPlaneWords = sizeof(Reg) / sizeof(uint16_t);
  static constexpr size_t kRowWords = 2 * kPlaneWords;
  Reg nonzero;
  Reg negative;

  /// Loads a plane from anywhere in memory.
  static POLYKEM_INLINE Reg load_plane(const void* p) {
    Reg plane;
    __builtin_memcpy(&plane, p, sizeof plane);
    return plane;
  }
  static POLYKEM_INLINE void store_plane(void* p, Reg plane) {
    __builtin_memcpy(p, &plane, sizeof plane);
  }
  static POLYKEM_INLINE Gf3 load(const uint16_t* p) {
    return {*reinterpret_cast<const Reg*>(p), *reinterpret_cast<const Reg*>(p + kPlaneWords)};
  }
  POLYKEM_INLINE void store(uint16_t* p) const {
    *reinterpret_cast<Reg*>(p) = nonzero;
    *reinterpret_cast<Reg*>(p + kPlaneWords) = negative;
  }
  static POLYKEM_INLINE Gf3 zero() {
    return {Reg{}, Reg{}};
  }

  friend POLYKEM_INLINE Gf3 operator*(Gf3 a, Gf3 b) {
    return {a.nonzero & b.nonzero, a.negative ^ b.negative};
  }

#ifdef POLYKEM_ISA_AVX512
  friend POLYKEM_INLINE Gf3 operator+(Gf3 a, Gf3 b) {
    const Reg same = _mm512_ternarylogic_epi64(a.negative, b.nonzero, b.negative, 0x69);
    return {_mm512_ternarylogic_epi64(a.nonzero, b.nonzero, same, 0x7c),
            _mm512_ternarylogic_epi64(a.nonzero, b.negative, same, 0x9c)};
  }
  friend POLYKEM_INLINE Gf3 operator-(Gf3 a, Gf3 b) {
    const Reg same = _mm512_ternarylogic_epi64(a.negative, b.nonzero, b.negative, 0x96);
    return {_mm512_ternarylogic_epi64(a.nonzero, b.nonzero, same, 0x7c),
            _mm512_ternarylogic_epi64(a.nonzero, b.negative, same, 0x63)};
  }
#else
  friend POLYKEM_INLINE Gf3 operator+(Gf3 a, Gf3 b) {
    const Reg differ = a.negative ^ b.negative;
    const Reg cancel = a.nonzero & b.nonzero & differ;
    return {_mm256_andnot_si256(cancel, a.nonzero | b.nonzero), b.negative ^ (a.nonzero & (differ ^ b.nonzero))};
  }
  friend POLYKEM_INLINE Gf3 operator-(Gf3 a, Gf3 b) {
    const Reg ones = _mm256_set1_epi32(-1);
    const Reg same = a.negative ^ b.negative;  // the signs of a and -b agree
    const Reg cancel = _mm256_andnot_si256(same, a.nonzero & b.nonzero);
    const Reg flip = _mm256_andnot_si256(same ^ b.nonzero, a.nonzero);
    return {_mm256_andnot_si256(cancel, a.nonzero | b.nonzero), b.negative ^ flip ^ ones};
  }
#endif
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::polymul

#endif
