// SPDX-License-Identifier: Apache-2.0
// What the provider offers: every set of the registry, and hybrids of a set with a classical key exchange.
#pragma once

#include <polykem/polykem.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace polykem::provider {

/// The classical part of a hybrid; libcrypto computes it.
struct Classical {
  const char* name;          ///< as a user calls it: "x25519", "p256"
  const char* algorithm;     ///< libcrypto's: "X25519", "EC"
  const char* group;         ///< of EC: "P-256"; nullptr for others
  std::size_t share_bytes;   ///< of a public key
  std::size_t secret_bytes;  ///< of a shared secret
};

/// A set alone, or a hybrid. In every concatenation (public keys, ciphertexts, secrets) the parts have one order.
struct Algorithm {
  Scheme scheme;
  const Classical* classical = nullptr;  ///< nullptr: the set alone
  bool classical_first = false;
  std::string name;   ///< the first of `names`
  std::string names;  ///< name and aliases, separated by ':'

  bool is_hybrid() const { return classical != nullptr; }
  std::size_t share_bytes() const { return is_hybrid() ? classical->share_bytes : 0; }
  std::size_t public_key_bytes() const { return scheme.public_key_bytes() + share_bytes(); }
  std::size_t ciphertext_bytes() const { return scheme.ciphertext_bytes() + share_bytes(); }
  std::size_t secret_bytes() const {
    return scheme.shared_secret_bytes() + (is_hybrid() ? classical->secret_bytes : 0);
  }
  int security_bits() const;
};

/// Where the two parts of a concatenation lie.
struct Parts {
  std::size_t scheme_at, classical_at;
};
inline Parts parts_of(const Algorithm& algorithm, std::size_t scheme_bytes, std::size_t classical_bytes) {
  return algorithm.classical_first ? Parts{classical_bytes, 0} : Parts{0, scheme_bytes};
}

/// A TLS group and its code point, unless openssl.cnf gives it another one.
struct Group {
  std::string name;
  std::size_t algorithm;  ///< index into the list of algorithms
  unsigned id;            ///< 0: not offered
};

struct Offer {
  std::vector<Algorithm> algorithms;
  std::vector<Group> groups;
};

/// builtin_mlkem: OpenSSL has ML-KEM, its hybrids and their groups itself (3.5 and newer), so that only the sets and
/// the groups that it lacks are offered.
Offer make_offer(bool builtin_mlkem);

/// The dispatch tables are made at compile time, this many for each operation.
inline constexpr std::size_t kMaxAlgorithms = 96;

}  // namespace polykem::provider
