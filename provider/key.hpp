// SPDX-License-Identifier: Apache-2.0
// A key object: what OpenSSL calls provider-side key data.
#pragma once

#include <polykem/polykem.hpp>

#include <atomic>

#include "classical.hpp"
#include "provider.hpp"

namespace polykem::provider {

/// A key of one algorithm: none, a public key, a private key or both. Counted references; key material does not change
/// once it is there, and is zeroised with the last reference. Functions that return false have raised an error, and the
/// key is as it was.
class Key {
 public:
  Key(Provider& provider, const Algorithm& algorithm) : provider_(provider), algorithm_(algorithm) {}
  Key(const Key&) = delete;
  Key& operator=(const Key&) = delete;

  Key* up_ref();
  /// Frees the key with the last reference.
  void release();
  /// A copy of its own with what `selection` (OSSL_KEYMGMT_SELECT_*) names; nullptr with an error raised.
  Key* duplicate(int selection) const;

  Provider& provider() const { return provider_; }
  const Algorithm& algorithm() const { return algorithm_; }

  bool has_public() const { return !public_key_.empty(); }
  bool has_private() const { return !secret_key_.empty(); }
  /// The set's public key; of a hybrid, without the classical share. Empty if there is none, here and below.
  ByteView public_key() const { return public_key_; }
  /// The set's secret key, expanded.
  ByteView secret_key() const { return secret_key_; }
  /// The seed that the secret key was made from, where the set has that form and it is known.
  ByteView seed() const { return seed_; }
  /// The classical part of a hybrid.
  EVP_PKEY* classical() const { return classical_.get(); }
  /// Operations with the set's part of the key; false with an error raised.
  bool start_encapsulate(SecretBytes coins, Pending& out) const;
  bool start_decapsulate(const std::uint8_t* ciphertext, Pending& out) const;
  bool start_sign(const polykem_messages& message, SecretBytes coins, Pending& out) const;
  bool start_verify(const polykem_messages& message, const std::uint8_t* signature, Pending& out) const;
  bool finish(Pending& pending, std::uint8_t* public_out, std::uint8_t* secret_out) const;
  /// As it crosses the wire: of a hybrid, both shares.
  Bytes encoded_public_key() const;

  /// Makes a key pair. `coins` are the set's random inputs, of the length that keygen takes; empty: random.
  bool generate(SecretBytes coins);
  /// From the encoding; of the classical share it is checked that it is a point, of ML-KEM's that it is reduced.
  bool set_public_key(ByteView encoded);
  /// From the expanded form; the public key follows where the secret key contains it, and of ML-DSA, whose parts are
  /// compared. Not for hybrids.
  bool set_secret_key(ByteView expanded);
  /// From the seed; the expanded form and the public key follow. Not for hybrids.
  bool set_seed(ByteView seed);

  /// Whether the library takes the public key. Of ML-KEM it was found out when the key was set, of other KEMs one
  /// encapsulation shows it. Of ML-DSA all of the right length are.
  bool check_public() const;
  /// One decapsulation shows whether the library takes the private key. Of ML-DSA it was found out when the key was
  /// set.
  bool check_private() const;
  /// What is encapsulated to the public key, the private key decapsulates; of ML-DSA the public key follows from the
  /// private one.
  bool check_pair() const;

 private:
  ~Key() = default;
  bool has_length(ByteView bytes, std::size_t right, const char* what) const;
  polykem_request request(polykem_op op) const;
  bool start(polykem_request& request, SecretBytes coins, Pending& out) const;
  bool public_key_inside(ByteView expanded, Bytes& out) const;
  bool make_seed(SecretBytes& out) const;
  bool encapsulate(SecretBytes& ciphertext, SecretBytes& secret) const;
  bool decapsulate(ByteView ciphertext, SecretBytes& secret) const;

  Provider& provider_;
  const Algorithm& algorithm_;
  std::atomic<int> references_{1};
  Bytes public_key_;
  SecretBytes secret_key_, seed_;
  PkeyPtr classical_;
};

struct KeyRelease {
  void operator()(Key* key) const { key->release(); }
};
using KeyPtr = std::unique_ptr<Key, KeyRelease>;

/// Takes the same time whatever the bytes are.
inline bool same_bytes(ByteView a, ByteView b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

inline SecretBytes secret_copy(ByteView bytes) {
  return {bytes.data(), bytes.data() + bytes.size()};
}

inline Key& as_key(void* pointer) {
  return *static_cast<Key*>(pointer);
}
inline const Key& as_key(const void* pointer) {
  return *static_cast<const Key*>(pointer);
}

}  // namespace polykem::provider
