// SPDX-License-Identifier: Apache-2.0
// Inverses in GF(2)[x]/Phi_n and GF(3)[x]/Phi_n, Phi_n = 1 + x + ... + x^(n-1), by division steps with a fixed number
// of iterations. [BY19, 5]
#pragma once

#include <cstddef>
#include <cstdint>

namespace polykem {

/// The largest n that the portable versions take.
inline constexpr size_t kMaxInverseDegree = 1408;

/// Computes inverse = 1/a mod (2, Phi_n). a: n coefficients, of which only bit 0 is used; the last one is 0. inverse: n
/// coefficients in {0, 1}, the last one 0. If a has no inverse, the result is undefined.
void poly_inverse_mod2(uint16_t* inverse, const uint16_t* a, size_t n);

/// Computes inverse = 1/a mod (3, Phi_n). a and inverse: n coefficients in {0, 1, 2}, the last one 0. If a has no
/// inverse, the result is undefined.
void poly_inverse_mod3(uint16_t* inverse, const uint16_t* a, size_t n);

}  // namespace polykem
