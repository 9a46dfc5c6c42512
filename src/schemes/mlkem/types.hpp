// SPDX-License-Identifier: Apache-2.0
// Polynomials and keys of one item, in the form that the stages pass on.
#pragma once

#include <cstdint>

#include "schemes/mlkem/params.hpp"

namespace polykem::mlkem {

/// 256 coefficients in [0, q), or below 2^12 if they were unpacked from a record of Kyber. The lowest comes first or,
/// in a transform, they have the order of [FIPS203, 4.3].
struct alignas(64) Poly {
  uint16_t c[kN];
};

/// A public key ready for use, in the form in which a key set keeps it.
template <size_t kK>
struct PublicKey {
  Poly rows[(kK + 1) * kK];  ///< A^T, row by row: rows[i k + j] = SampleNTT(rho, i, j); then t^
  uint8_t hash[kSymBytes];   ///< H(pk)
  uint32_t valid;            ///< 0 if a coefficient of t^ is not below q (ML-KEM)

  Poly* t() { return rows + kK * kK; }
  const Poly* t() const { return rows + kK * kK; }
};

/// A secret key ready for use, in the form in which a key set keeps it.
template <size_t kK>
struct SecretKey {
  PublicKey<kK> pk;
  Poly s[kK];
  uint8_t z[kSymBytes];
  uint32_t valid;  ///< 0 if H(pk) is not the stored hash (ML-KEM)
};

}  // namespace polykem::mlkem
