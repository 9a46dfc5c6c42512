// SPDX-License-Identifier: Apache-2.0
// Sums of products in 32-bit lanes, of which only the low halves are used.
//
// Where b is used for many rows of a, and for dot products, half of the multiplications are saved [WINOGRAD68]:
// x_p y_p + x_q y_q = (x_p + y_q) (x_q + y_p) - x_p x_q - y_p y_q for a pair p, q of terms. The last two products
// depend on a row of a or a column of b alone ("own products"); their sums are a correction, subtracted at the end. Two
// additions replace one of two multiplications, for which AMD's CPUs have half as many units. Xeons multiply on as many
// ports as they add on, so dot products do without it on Intel's CPUs.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "prim/simd/isa.hpp"

namespace polykem::matmul {
inline namespace POLYKEM_ISA {

inline constexpr size_t kLanes = 32;  ///< words of a register

POLYKEM_INLINE __mmask32 first_words(size_t count) {
  return static_cast<__mmask32>(count >= kLanes ? ~uint32_t{0} : (uint32_t{1} << count) - 1);
}

/// Returns sum + x y, with the products of neighbouring words added up. Around the intrinsic _mm512_dpwssd_epi32 GCC 12
/// copies and spills the sums.
POLYKEM_INLINE __m512i add_products(__m512i sum, __m512i x, __m512i y) {
  asm("vpdpwssd %2, %1, %0" : "+v"(sum) : "v"(x), "v"(y));
  return sum;
}

/// Keeps a loaded value in a register: compilers would load it again for each use, and loads are the bottleneck.
POLYKEM_INLINE __m512i in_register(__m512i x) {
  asm("" : "+v"(x));
  return x;
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::matmul
