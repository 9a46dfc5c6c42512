// SPDX-License-Identifier: Apache-2.0
// The parameter sets of ML-DSA, and the sizes that follow from them. [FIPS204, 4]
#pragma once

#include <cstddef>
#include <cstdint>

namespace polykem::mldsa {

inline constexpr size_t kN = 256;
inline constexpr int32_t kQ = 8380417;
inline constexpr unsigned kD = 13;          ///< bits dropped from t
inline constexpr size_t kSeedBytes = 32;    ///< xi, rho, K, rnd
inline constexpr size_t kDigestBytes = 64;  ///< tr, mu, rho', rho''
inline constexpr size_t kT1Bits = 10;
/// The largest number of attempts at a signature, which must not be less than 814. [FIPS204, App C]
inline constexpr size_t kMaxAttempts = 1000;
/// The number of bytes for a polynomial of A: five blocks of SHAKE128, with 280 candidates of which 1 in 1,000 is
/// rejected.
inline constexpr size_t kMatrixBytes = 5 * 168;

/// Returns the number of bytes of a polynomial with `bits` bits for each coefficient.
constexpr size_t poly_bytes(size_t bits) {
  return kN / 8 * bits;
}

struct MldsaParams {
  size_t k, l;
  int32_t eta;          ///< coefficients of s1 and s2 are in [-eta, eta]
  size_t tau;           ///< the number of coefficients of c that are not 0
  size_t lambda;        ///< bits of collision strength of c~
  unsigned gamma1_log;  ///< gamma1 = 2^gamma1_log
  int32_t gamma2_part;  ///< gamma2 = (q - 1) / gamma2_part
  size_t omega;         ///< the largest number of ones in a hint

  constexpr int32_t gamma1() const { return int32_t{1} << gamma1_log; }
  constexpr int32_t gamma2() const { return (kQ - 1) / gamma2_part; }
  constexpr int32_t beta() const { return static_cast<int32_t>(tau) * eta; }
  constexpr size_t eta_bits() const { return eta == 2 ? 3 : 4; }
  constexpr size_t z_bits() const { return gamma1_log + 1; }
  constexpr size_t w1_bits() const { return gamma2_part == 88 ? 6 : 4; }
  constexpr size_t challenge_bytes() const { return lambda / 4; }

  constexpr size_t eta_bytes() const { return poly_bytes(eta_bits()); }
  constexpr size_t t0_bytes() const { return poly_bytes(kD); }
  constexpr size_t t1_bytes() const { return poly_bytes(kT1Bits); }
  constexpr size_t z_bytes() const { return poly_bytes(z_bits()); }
  constexpr size_t w1_bytes() const { return poly_bytes(w1_bits()); }

  constexpr size_t public_key_bytes() const { return kSeedBytes + k * t1_bytes(); }
  /// A secret key is rho, K, tr, s1, s2, t0; these are the offsets of its parts. [FIPS204, Alg 24]
  constexpr size_t k_offset() const { return kSeedBytes; }
  constexpr size_t tr_offset() const { return 2 * kSeedBytes; }
  constexpr size_t s1_offset() const { return tr_offset() + kDigestBytes; }
  constexpr size_t s2_offset() const { return s1_offset() + l * eta_bytes(); }
  constexpr size_t t0_offset() const { return s2_offset() + k * eta_bytes(); }
  constexpr size_t secret_key_bytes() const { return t0_offset() + k * t0_bytes(); }
  /// A signature is c~, z, h; these are the offsets of its parts. [FIPS204, Alg 26]
  constexpr size_t z_offset() const { return challenge_bytes(); }
  constexpr size_t hint_offset() const { return z_offset() + l * z_bytes(); }
  constexpr size_t signature_bytes() const { return hint_offset() + omega + k; }
};

inline constexpr MldsaParams kMldsa44{4, 4, 2, 39, 128, 17, 88, 80};
inline constexpr MldsaParams kMldsa65{6, 5, 4, 49, 192, 19, 32, 55};
inline constexpr MldsaParams kMldsa87{8, 7, 2, 60, 256, 19, 32, 75};

static_assert(kMldsa44.public_key_bytes() == 1312 && kMldsa44.secret_key_bytes() == 2560);
static_assert(kMldsa65.public_key_bytes() == 1952 && kMldsa65.secret_key_bytes() == 4032);
static_assert(kMldsa87.public_key_bytes() == 2592 && kMldsa87.secret_key_bytes() == 4896);
static_assert(kMldsa44.signature_bytes() == 2420 && kMldsa65.signature_bytes() == 3309);
static_assert(kMldsa87.signature_bytes() == 4627);

}  // namespace polykem::mldsa
