// SPDX-License-Identifier: Apache-2.0
// Polynomials and keys of one item, in the form that the stages pass on.
#pragma once

#include "schemes/mldsa/params.hpp"

namespace polykem::mldsa {

/// 256 coefficients, lowest first, or in the transform's order. The comments of functions give their ranges.
struct alignas(64) Poly {
  int32_t c[kN];
};

/// The transform mod 3329 of a polynomial with small coefficients, in the order of prim/ntt. Products of c with s1 and
/// s2 have coefficients of at most tau eta <= 196, so they are exact mod 3329 and fit 16 bits.
struct alignas(64) SmallPoly {
  uint16_t c[kN];
};

/// A public key ready for use.
template <MldsaParams P>
struct PublicKey {
  Poly a[P.k * P.l];  ///< A^, row by row, in [0, q)
  Poly t1[P.k];       ///< NTT(t1 2^d)
  uint8_t tr[kDigestBytes];
};

/// A secret key ready for use.
template <MldsaParams P>
struct SecretKey {
  Poly a[P.k * P.l];  ///< A^, row by row, in [0, q)
  Poly t0[P.k];       ///< the transform of t0
  SmallPoly s1[P.l], s2[P.k];
};

}  // namespace polykem::mldsa
