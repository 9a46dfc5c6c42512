// SPDX-License-Identifier: Apache-2.0
// The parameter sets of Saber, round 3, and the sizes that follow from them. [SABER20, Table 1]
#pragma once

#include <cstddef>
#include <cstdint>

namespace polykem::saber {

inline constexpr size_t kN = 256;
inline constexpr unsigned kQBits = 13, kPBits = 10;
inline constexpr uint32_t kPMask = (1u << kPBits) - 1;
inline constexpr size_t kSymBytes = 32;  ///< seeds, messages, hashes and shared secrets
inline constexpr size_t kPolyQBytes = kN * kQBits / 8, kPolyPBytes = kN * kPBits / 8;
/// The constant that h has in each coefficient: it makes a shift round. [SABER20, 2.3]
inline constexpr uint16_t kH1 = 1u << (kQBits - kPBits - 1);

struct SaberParams {
  size_t l;         ///< rank of the module
  unsigned mu;      ///< a coefficient of a secret is a sum of mu/2 bits minus another
  unsigned t_bits;  ///< bits of each coefficient of c_m: log2 of T

  constexpr size_t matrix_bytes() const { return l * l * kPolyQBytes; }
  constexpr size_t secret_bytes() const { return l * kPolyQBytes; }
  constexpr size_t vector_bytes() const { return l * kPolyPBytes; }
  /// The number of bytes that GenSecret reads.
  constexpr size_t noise_bytes() const { return l * kN * mu / 8; }
  constexpr size_t public_key_bytes() const { return vector_bytes() + kSymBytes; }
  constexpr size_t ciphertext_bytes() const { return vector_bytes() + kN * t_bits / 8; }
  /// The secret key is s, pk, H(pk), z; these are the offsets of its parts.
  constexpr size_t pk_offset() const { return secret_bytes(); }
  constexpr size_t hash_offset() const { return pk_offset() + public_key_bytes(); }
  constexpr size_t z_offset() const { return hash_offset() + kSymBytes; }
  constexpr size_t secret_key_bytes() const { return z_offset() + kSymBytes; }
  /// The constant h2 of decryption. [SABER20, 2.3]
  constexpr uint16_t h2() const {
    return static_cast<uint16_t>((1u << (kPBits - 2)) - (1u << (kPBits - t_bits - 1)) + (1u << (kQBits - kPBits - 1)));
  }
};

inline constexpr size_t kKeygenCoinBytes = 3 * kSymBytes;  ///< seed of A, seed of s, z
inline constexpr size_t kEncapsCoinBytes = kSymBytes;      ///< hashed to m

inline constexpr SaberParams kLightSaber{2, 10, 3}, kSaber{3, 8, 4}, kFireSaber{4, 6, 6};

static_assert(kLightSaber.public_key_bytes() == 672 && kLightSaber.secret_key_bytes() == 1568);
static_assert(kSaber.public_key_bytes() == 992 && kSaber.secret_key_bytes() == 2304);
static_assert(kFireSaber.public_key_bytes() == 1312 && kFireSaber.secret_key_bytes() == 3040);
static_assert(kLightSaber.ciphertext_bytes() == 736 && kSaber.ciphertext_bytes() == 1088);
static_assert(kFireSaber.ciphertext_bytes() == 1472);

}  // namespace polykem::saber
