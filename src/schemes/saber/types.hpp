// SPDX-License-Identifier: Apache-2.0
// Polynomials and keys of one item, in the form that the stages pass on.
#pragma once

#include <cstdint>

#include "schemes/saber/params.hpp"

namespace polykem::saber {

/// 256 coefficients, lowest first: words that stand for integers mod 2^13 (or 2^10); the bits above are arbitrary.
struct alignas(64) Poly {
  uint16_t c[kN];
};

/// A public key ready for use, in the form in which a key set keeps it.
template <size_t kL>
struct PublicKey {
  Poly rows[(kL + 1) * kL];  ///< A, row by row, then b
  uint8_t hash[kSymBytes];   ///< SHA3-256 of the record

  Poly* b() { return rows + kL * kL; }
};

/// A secret key ready for use, in the form in which a key set keeps it.
template <size_t kL>
struct SecretKey {
  PublicKey<kL> pk;
  Poly s[kL];
  uint8_t z[kSymBytes];
};

}  // namespace polykem::saber
