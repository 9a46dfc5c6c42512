// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace polykem::cortex_m4 {

/// Sizes of a product mod x^n - 1: n is padded to `padded` coefficients, which Toom and Cook's method divides by four,
/// and Karatsuba's halves down to `base`.
struct MulSizes {
  size_t padded, base;
};
constexpr MulSizes mul_sizes(size_t n) {
  constexpr size_t kParts = 16;
  const size_t base = (n + 4 * kParts - 1) / (4 * kParts) * 4;
  return {kParts * base, base};
}

/// Words of memory that mul_cyclic<n> needs.
constexpr size_t mul_workspace_words(size_t n) {
  const auto [padded, base] = mul_sizes(n);
  size_t words = padded + padded / 2 + padded / 2;  // u, v, y
  words += padded / 8 * 15;
  for (size_t m = padded / 4; m > base; m /= 2)
    words += m / 4 * 5;
  return words;
}

/// c = a b mod (x^n - 1, 2^13), n coefficients in [0, 2^13); a and b: any 16-bit values; c may be a or b. n: 509, 677,
/// 701 or 821. No address and no branch
/// depends on coefficients; the workspace holds secrets afterwards.
template <size_t n>
void mul_cyclic(uint16_t* c, const uint16_t* a, const uint16_t* b, uint32_t* workspace);

extern template void mul_cyclic<509>(uint16_t*, const uint16_t*, const uint16_t*, uint32_t*);
extern template void mul_cyclic<677>(uint16_t*, const uint16_t*, const uint16_t*, uint32_t*);
extern template void mul_cyclic<701>(uint16_t*, const uint16_t*, const uint16_t*, uint32_t*);
extern template void mul_cyclic<821>(uint16_t*, const uint16_t*, const uint16_t*, uint32_t*);

}  // namespace polykem::cortex_m4
