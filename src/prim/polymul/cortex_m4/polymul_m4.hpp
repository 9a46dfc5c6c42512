// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/round.hpp"

namespace polykem::cortex_m4 {

/// Returns n padded for sixteen parts: four by Toom and Cook's method, each halved twice by Karatsuba's. A part has a
/// multiple of four coefficients: SMLAD takes them in pairs, and sliding_plain.S takes its steps in pairs, too.
constexpr size_t padded_size(size_t n) {
  constexpr size_t kUnit = 16 * 4;
  return rounded_up(n, kUnit);
}

/// Returns the words of memory that mul_cyclic<n> needs.
constexpr size_t mul_workspace_words(size_t n) {
  return padded_size(n) / 32 * 104;
}

/// Sets c to a b mod (x^n - 1, 2^13), n coefficients in [0, 2^13). a and b have any 16-bit values; c may be a or b. n
/// is 509, 677, 701 or 821. No address and no branch depends on coefficients; the workspace and s0 to s15 hold secrets
/// afterwards.
template <size_t n>
void mul_cyclic(uint16_t* c, const uint16_t* a, const uint16_t* b, uint32_t* workspace);

extern template void mul_cyclic<509>(uint16_t*, const uint16_t*, const uint16_t*, uint32_t*);
extern template void mul_cyclic<677>(uint16_t*, const uint16_t*, const uint16_t*, uint32_t*);
extern template void mul_cyclic<701>(uint16_t*, const uint16_t*, const uint16_t*, uint32_t*);
extern template void mul_cyclic<821>(uint16_t*, const uint16_t*, const uint16_t*, uint32_t*);

}  // namespace polykem::cortex_m4
