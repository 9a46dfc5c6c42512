// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace polykem {

/// Computes c = a * b mod (x^n - 1, 2^16). a, b and c have n coefficients, any 16-bit values; c may not overlap a or b.
/// The product is right for every modulus q that divides 2^16, and for exact sums below 2^16.
void poly_mul_cyclic(uint16_t* c, const uint16_t* a, const uint16_t* b, size_t n);

}  // namespace polykem
