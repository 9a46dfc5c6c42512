// SPDX-License-Identifier: Apache-2.0
// The algorithms that the provider offers: all KEM sets, hybrids of a set with a classical key exchange, and signature
// sets.
#pragma once

#include <polykem/polykem.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace polykem::provider {

/// The classical part of a hybrid, which libcrypto computes.
struct Classical {
  const char* name;          ///< the user's name: "x25519", "p256"
  const char* algorithm;     ///< libcrypto's key type: "X25519", "EC"
  const char* group;         ///< curve of EC: "P-256"; nullptr for others
  std::size_t share_bytes;   ///< bytes of a public key
  std::size_t secret_bytes;  ///< bytes of a shared secret
};

/// A KEM set, which may be one of the standards' hybrids; a signature set; or a hybrid of a KEM set with one of
/// libcrypto's curves, whose part comes first in every concatenation (public keys, ciphertexts, secrets).
struct Algorithm {
  Scheme scheme;
  const Classical* classical = nullptr;  ///< nullptr: the set alone
  std::string name;                      ///< the first of `names`
  std::string names;                     ///< name and aliases, separated by ':'

  bool is_hybrid() const { return classical != nullptr; }
  bool signs() const { return scheme.info().signature_bytes != 0; }
  std::size_t share_bytes() const { return is_hybrid() ? classical->share_bytes : 0; }
  std::size_t public_key_bytes() const { return scheme.public_key_bytes() + share_bytes(); }
  std::size_t ciphertext_bytes() const { return scheme.ciphertext_bytes() + share_bytes(); }
  std::size_t classical_secret_bytes() const { return is_hybrid() ? classical->secret_bytes : 0; }
  std::size_t secret_bytes() const { return scheme.shared_secret_bytes() + classical_secret_bytes(); }
  int security_bits() const;
};

/// A TLS group and its code point, which openssl.cnf can change.
struct Group {
  std::string name;
  std::size_t algorithm;  ///< index into the list of algorithms
  unsigned id;            ///< 0: not offered
};

/// A signature algorithm of TLS 1.3 [TLSMLDSA, 3].
struct SignatureAlgorithm {
  const char* name;
  std::size_t algorithm;  ///< index into the list of algorithms
  unsigned code_point;
};

/// The parts of a set's public key that are checked as soon as a key is set: the encapsulation key of ML-KEM
/// [FIPS203, 7.2], and the point of a curve.
struct PublicKeyParts {
  std::size_t ek_at = 0, ek_bytes = 0;  ///< 0 bytes: there is none
  const Classical* curve = nullptr;     ///< nullptr: there is no point
  std::size_t point_at = 0;
};
PublicKeyParts public_key_parts(const Scheme& scheme);

struct Offer {
  std::vector<Algorithm> algorithms;
  std::vector<Group> groups;
  std::vector<SignatureAlgorithm> signature_algorithms;
};

/// All sets, groups and signature algorithms. builtin_mlkem: OpenSSL itself has the groups of ML-KEM and its hybrids
/// (3.5 and newer), so that only the groups that it lacks are offered. It then has ML-DSA too, but libssl takes a
/// signature algorithm only from the provider whose keys it would use.
Offer make_offer(bool builtin_mlkem);

/// The number of dispatch tables for each operation, which are made at compile time.
inline constexpr std::size_t kMaxAlgorithms = 107;

}  // namespace polykem::provider
