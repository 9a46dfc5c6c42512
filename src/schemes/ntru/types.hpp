// SPDX-License-Identifier: Apache-2.0
// Polynomials with their domain in the type. Each has n coefficients, lowest first.
#pragma once

#include <cstdint>

#include "schemes/ntru/params.hpp"

namespace polykem::ntru {

struct Rq {};  ///< Z_q[x]/(x^n - 1); any 16-bit representatives of the residues mod q
struct S3 {};  ///< Z_3[x]/Phi_n; coefficients in {0, 1, 2}, the last one 0

template <NtruParams P, class Domain>
struct Poly {
  uint16_t c[P.n];
};

}  // namespace polykem::ntru
