// SPDX-License-Identifier: Apache-2.0
// Two signed coefficients in a word, and the instructions for them that compilers do not choose by themselves.
#pragma once

#include <arm_acle.h>

#include <cstdint>
#include <cstring>

#include "prim/ntt/ntt.hpp"

namespace polykem::cortex_m4 {

inline int32_t load_pair(const uint16_t* coefficients) {
  int32_t pair;
  std::memcpy(&pair, coefficients, sizeof pair);
  return pair;
}
inline void store_pair(uint16_t* coefficients, int32_t pair) {
  std::memcpy(coefficients, &pair, sizeof pair);
}

inline uint32_t load_word(const uint8_t* bytes) {
  uint32_t word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}
inline void store_word(uint8_t* bytes, uint32_t word) {
  std::memcpy(bytes, &word, sizeof word);
}

/// Returns round(a b / 2^32).
inline int32_t high_product(int32_t a, int32_t b) {
  int32_t high;
  asm("smmulr %0, %1, %2" : "=r"(high) : "r"(a), "r"(b));
  return high;
}

/// Returns x mod q, of size at most 0.71 q: the reciprocal's error adds up to 0.21 q.
/// (check-magic: 1290167 == floor(2^32 / 3329))
inline int32_t reduced(int32_t x) {
  return x - high_product(x, 1290167) * static_cast<int32_t>(ntt::kQ);
}

/// Returns (a times the lower half of `pair`) / 2^16, rounded down.
inline int32_t product_lower(int32_t a, int32_t pair) {
  int32_t high;
  asm("smulwb %0, %1, %2" : "=r"(high) : "r"(a), "r"(pair));
  return high;
}
/// Returns (a times the upper half of `pair`) / 2^16, rounded down.
inline int32_t product_upper(int32_t a, int32_t pair) {
  int32_t high;
  asm("smulwt %0, %1, %2" : "=r"(high) : "r"(a), "r"(pair));
  return high;
}

/// Returns the lower halves of two words.
inline int32_t lower_halves(int32_t low, int32_t high) {
  int32_t pair;
  asm("pkhbt %0, %1, %2, lsl #16" : "=r"(pair) : "r"(low), "r"(high));
  return pair;
}
/// Returns the upper halves of two words.
inline int32_t upper_halves(int32_t low, int32_t high) {
  int32_t pair;
  asm("pkhtb %0, %1, %2, asr #16" : "=r"(pair) : "r"(high), "r"(low));
  return pair;
}

}  // namespace polykem::cortex_m4
