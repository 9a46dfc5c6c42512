// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <immintrin.h>

#include <cstring>

#include "prim/simd/isa.hpp"
#include "schemes/lac/modulus.hpp"

namespace polykem::lac::lanes {
inline namespace POLYKEM_ISA {

/// Working memory of products modulo x^n + 1 by VPMADDUBSW: a 16-bit lane has a coefficient of the product, and one
/// instruction adds two terms to it.
struct ScratchAvx2 {
  alignas(64) uint8_t twice[2 * kMaxCoefficients];
  alignas(64) uint16_t pairs[2 * kMaxCoefficients];  ///< word i: bytes i and i - 1 of `twice`
};

/// Writes -a mod q, then a: byte n + i - j is coefficient i of a x^j.
POLYKEM_INLINE void write_twice(uint8_t* twice, const uint8_t* a, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    twice[i] = canonical(static_cast<int16_t>(2 * static_cast<int16_t>(kQ) - a[i]));
    twice[n + i] = a[i];
  }
}

/// Returns (x & 255) + 5 (x >> 8) of a lifted sum, as modulus.hpp has it. Range in: -32630 to 32767; out: at most 1525.
POLYKEM_INLINE __m256i folded(__m256i x) {
  const __m256i lifted = _mm256_add_epi16(x, _mm256_set1_epi16(static_cast<short>(kLift16)));
  const __m256i high = _mm256_srli_epi16(lifted, 8);
  return _mm256_add_epi16(_mm256_and_si256(lifted, _mm256_set1_epi16(255)),
                          _mm256_add_epi16(high, _mm256_slli_epi16(high, 2)));
}

POLYKEM_INLINE __m256i load(const uint16_t* words) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(words));
}
POLYKEM_INLINE __m256i two_factors(const int8_t* s) {
  int16_t two;
  std::memcpy(&two, s, sizeof two);
  return _mm256_set1_epi16(two);
}
POLYKEM_INLINE void add_terms(__m256i& sum, __m256i terms, __m256i factors) {
  sum = _mm256_add_epi16(sum, _mm256_maddubs_epi16(terms, factors));
}

/// Computes kRegisters times 16 coefficients of the product, from `first` on, with `added`.
template <size_t kRegisters>
POLYKEM_INLINE void multiply_some(uint8_t* out, const uint16_t* pairs, const int8_t* s, const int8_t* added, size_t n,
                                  size_t first) {
  constexpr size_t kUnfolded = 64;  // terms: 1525 + 64 * 255 + 127 < 2^15
  constexpr size_t kLanes = 16;
  __m256i sum[kRegisters] = {};
  for (size_t begin = 0; begin < n; begin += kUnfolded) {
    // Terms j and j + kLanes use the same words for neighbouring registers: one load serves both.
    for (size_t half = begin; half < begin + kUnfolded; half += 2 * kLanes) {
      for (size_t j = half; j < half + kLanes; j += 2) {
        const __m256i factors = two_factors(s + j), later = two_factors(s + j + kLanes);
        const uint16_t* from = pairs + n + first - j;
        add_terms(sum[0], load(from - kLanes), later);
        for (size_t r = 0; r < kRegisters; ++r) {
          const __m256i terms = load(from + r * kLanes);
          add_terms(sum[r], terms, factors);
          if (r + 1 < kRegisters) add_terms(sum[r + 1], terms, later);
        }
      }
    }
    for (__m256i& x : sum)
      x = folded(x);
  }
  for (size_t r = 0; r < kRegisters; ++r) {
    alignas(32) int16_t words[kLanes];
    _mm256_store_si256(reinterpret_cast<__m256i*>(words), sum[r]);
    for (size_t i = 0; i < kLanes; ++i) {
      const size_t at = first + r * kLanes + i;
      const auto more = static_cast<int16_t>(words[i] + (added != nullptr ? added[at] : int8_t{0}));
      out[at] = canonical(lac::folded(more));
    }
  }
}

/// Does what ref::multiply() does. `out` and `added` have room for a multiple of 128 coefficients.
inline void multiply(uint8_t* out, const uint8_t* a, const int8_t* s, const int8_t* added, size_t n, size_t count,
                     ScratchAvx2& t) {
  constexpr size_t kRegisters = 8;
  write_twice(t.twice, a, n);
  for (size_t i = 1; i < 2 * n; ++i)
    t.pairs[i] = static_cast<uint16_t>(t.twice[i] | t.twice[i - 1] << 8);
  for (size_t first = 0; first < count; first += 16 * kRegisters)
    multiply_some<kRegisters>(out, t.pairs, s, added, n, first);
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::lac::lanes
