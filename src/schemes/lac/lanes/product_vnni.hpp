// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <immintrin.h>

#include <cstring>

#include "prim/simd/isa.hpp"
#include "schemes/lac/lanes/product_avx2.hpp"

namespace polykem::lac::lanes {
inline namespace POLYKEM_ISA {

/// Working memory of products modulo x^n + 1 by VPDPBUSD: a 32-bit lane has a coefficient of the product, and one
/// instruction adds four terms to it.
struct ScratchVnni {
  alignas(64) uint8_t twice[2 * kMaxCoefficients + 64];
  alignas(64) uint32_t fours[2 * kMaxCoefficients];
  alignas(64) int32_t sum[kMaxCoefficients];
};

inline constexpr size_t kWords = 16;  ///< the number of words of a register
inline constexpr size_t kTerms = 4;   ///< the number of terms of an instruction

/// Writes fours[i] = bytes i - shift, i - shift - 1, .. of `twice`, for the i >= kWords that are used. With the terms
/// taken in the order of `shift`, kTerms at a time from every kWords, every load is a cache line.
POLYKEM_INLINE void write_fours(ScratchVnni& t, size_t n, size_t shift) {
  alignas(64) uint8_t order[64];
  for (size_t i = 0; i < 64; ++i)
    order[i] = static_cast<uint8_t>(i / kTerms + 3 - i % kTerms);
  const __m512i index = _mm512_load_si512(order);
  for (size_t i = kWords; i < 2 * n; i += kWords) {
    const auto* from = reinterpret_cast<const __m256i*>(t.twice + i - shift - 3);
    const __m512i bytes = _mm512_castsi256_si512(_mm256_loadu_si256(from));
    _mm512_store_si512(t.fours + i, _mm512_permutexvar_epi8(index, bytes));
  }
}

/// Adds the terms j = shift, .., shift + 3 mod 16 to kRegisters times 16 coefficients from `first` on.
template <size_t kRegisters>
POLYKEM_INLINE void add_terms(ScratchVnni& t, const int8_t* s, size_t n, size_t shift, size_t first) {
  __m512i sum[kRegisters];
  for (size_t r = 0; r < kRegisters; ++r)
    sum[r] = _mm512_load_si512(t.sum + first + r * kWords);
  for (size_t j = 0; j < n; j += kWords) {
    int32_t four;
    std::memcpy(&four, s + j + shift, sizeof four);
    const __m512i factors = _mm512_set1_epi32(four);
    const uint32_t* from = t.fours + n + first - j;
    for (size_t r = 0; r < kRegisters; ++r)
      sum[r] = _mm512_dpbusd_epi32(sum[r], _mm512_load_si512(from + r * kWords), factors);
  }
  for (size_t r = 0; r < kRegisters; ++r)
    _mm512_store_si512(t.sum + first + r * kWords, sum[r]);
}

template <size_t kRegisters>
POLYKEM_INLINE void multiply_blocks(ScratchVnni& t, const int8_t* s, size_t n, size_t count) {
  for (size_t shift = 0; shift < kWords; shift += kTerms) {
    write_fours(t, n, shift);
    for (size_t first = 0; first < count; first += kRegisters * kWords)
      add_terms<kRegisters>(t, s, n, shift, first);
  }
}

/// Does what ref::multiply() does.
inline void multiply(uint8_t* out, const uint8_t* a, const int8_t* s, const int8_t* added, size_t n, size_t count,
                     ScratchVnni& t) {
  constexpr size_t kMany = 16, kSome = 13;  // 13 fits the second parts, of 25, 21 and 50 registers
  write_twice(t.twice, a, n);
  for (size_t i = 0; i < kMaxCoefficients; ++i)
    t.sum[i] = static_cast<int32_t>(kLift32);
  if (added != nullptr) {
    for (size_t i = 0; i < count; ++i)
      t.sum[i] += added[i];
  }
  if (count == n) {
    multiply_blocks<kMany>(t, s, n, count);
  } else {
    multiply_blocks<kSome>(t, s, n, count);
  }
  for (size_t i = 0; i < count; ++i) {
    const auto x = static_cast<uint32_t>(t.sum[i]);  // below 2 kLift32
    const auto once = static_cast<uint16_t>((x & 255) + 5 * (x >> 8));
    out[i] = canonical(static_cast<int16_t>((once & 255) + 5 * (once >> 8)));
  }
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::lac::lanes
