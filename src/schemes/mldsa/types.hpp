// SPDX-License-Identifier: Apache-2.0
// Polynomials and keys of one item, in the form that the stages pass on.
#pragma once

#include "schemes/mldsa/params.hpp"

namespace polykem::mldsa {

/// 256 coefficients, lowest first, or in the transform's order. Comments of functions give their ranges.
struct alignas(64) Poly {
  int32_t c[kN];
};

/// A public key ready for use.
template <MldsaParams P>
struct PublicKey {
  Poly a[P.k * P.l];  ///< A^, row by row, in [0, q)
  Poly t1[P.k];       ///< NTT(t1 2^d)
  uint8_t tr[kDigestBytes];
};

/// A private key ready for use.
template <MldsaParams P>
struct PrivateKey {
  Poly a[P.k * P.l];               ///< A^, row by row, in [0, q)
  Poly s1[P.l], s2[P.k], t0[P.k];  ///< their transforms
};

}  // namespace polykem::mldsa
