// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "schemes/lac/modulus.hpp"

namespace polykem::lac::ref {
inline namespace POLYKEM_ISA {

/// Working memory of a product.
struct Scratch {
  int16_t twice[2 * kMaxCoefficients];  ///< -a, then a: coefficient i of a x^j is twice[n + i - j]
  int16_t sum[kMaxCoefficients];
};

/// Computes out[i] = (a s)[i] + added[i] mod (x^n + 1, q), i < count. a: bytes. s: -1, 0, 1. added: nullptr or -128 to
/// 127. n and count are multiples of 8.
inline void multiply(uint8_t* out, const uint8_t* a, const int8_t* s, const int8_t* added, size_t n, size_t count,
                     Scratch& t) {
  constexpr size_t kUnfolded = 100;  // 1525 + 100 * 255 + 127 < 2^15
  for (size_t i = 0; i < n; ++i) {
    t.twice[i] = static_cast<int16_t>(-a[i]);
    t.twice[n + i] = a[i];
  }
  std::fill_n(t.sum, count, int16_t{0});
  for (size_t first = 0; first < n; first += kUnfolded) {
    for (size_t j = first; j < std::min(n, first + kUnfolded); ++j) {
      const int16_t* rotated = t.twice + n - j;
      const int16_t factor = s[j];
      for (size_t i = 0; i < count; ++i)
        t.sum[i] = static_cast<int16_t>(t.sum[i] + rotated[i] * factor);
    }
    for (size_t i = 0; i < count; ++i)
      t.sum[i] = folded(t.sum[i]);
  }
  for (size_t i = 0; i < count; ++i) {
    const int16_t more = added != nullptr ? added[i] : int16_t{0};
    out[i] = canonical(folded(static_cast<int16_t>(t.sum[i] + more)));
  }
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::lac::ref
