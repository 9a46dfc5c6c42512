// SPDX-License-Identifier: Apache-2.0
// High and low parts of coefficients, and hints, without a division or a branch on a coefficient. [FIPS204, 7.4]
#pragma once

#include "schemes/mldsa/modulus.hpp"

namespace polykem::mldsa {
inline namespace POLYKEM_ISA {

struct HighLow {
  int32_t high, low;
};

/// Splits r in [0, q) into high 2^d + low, with low in (-2^(d-1), 2^(d-1)]. [FIPS204, Alg 35]
constexpr HighLow power2_round(int32_t r) {
  const int32_t high = (r + (1 << (kD - 1)) - 1) >> kD;
  return {high, r - (high << kD)};
}

/// Splits r in [0, q) into high 2 gamma2 + low mod q, with low in (-gamma2, gamma2], or -gamma2 where high would be
/// (q - 1)/(2 gamma2). The quotient by a reciprocal is exact for every r: tests try them all. [FIPS204, Alg 36]
template <int32_t kGamma2Part>
constexpr HighLow decompose(int32_t r) {
  constexpr int32_t kGamma2 = (kQ - 1) / kGamma2Part;
  int32_t high = (r + 127) >> 7;
  if constexpr (kGamma2Part == 32) {
    high = (high * 1025 + (1 << 21)) >> 22 & 15;
  } else {
    static_assert(kGamma2Part == 88);
    high = (high * 11275 + (1 << 23)) >> 24;
    high ^= mask_negative(43 - high) & high;
  }
  int32_t low = r - high * 2 * kGamma2;
  low -= mask_negative((kQ - 1) / 2 - low) & kQ;
  return {high, low};
}

/// Returns 1 if `low` is so far beyond half a step that adding it changes the high part, otherwise 0.
/// low = LowBits(w) - c s2 + c t0. [FIPS204, Alg 39]
template <int32_t kGamma2Part>
constexpr int32_t make_hint(int32_t high, int32_t low) {
  constexpr int32_t kGamma2 = (kQ - 1) / kGamma2Part;
  const int32_t above = mask_negative(kGamma2 - low), below = mask_negative(low + kGamma2);
  const int32_t at_border = ~mask_negative((low + kGamma2) | -(low + kGamma2)) & mask_negative(-high);
  return (above | below | at_border) & 1;
}

/// Returns the high part of r in [0, q), corrected by a hint of 0 or 1. [FIPS204, Alg 40]
template <int32_t kGamma2Part>
constexpr int32_t use_hint(int32_t r, int32_t hint) {
  const HighLow split = decompose<kGamma2Part>(r);
  const int32_t step = 1 + 2 * mask_negative(split.low - 1);  // 1 if low > 0, else -1
  const int32_t high = split.high + (-hint & step);
  if constexpr (kGamma2Part == 32) return high & 15;
  return high + (mask_negative(high) & 44) - (mask_negative(43 - high) & 44);
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::mldsa
