// SPDX-License-Identifier: Apache-2.0
// A key object, which OpenSSL calls provider-side key data.
#pragma once

#include <polykem/polykem.hpp>

#include <atomic>

#include "classical.hpp"
#include "provider.hpp"

namespace polykem::provider {

/// A key of one algorithm: without material, or with a public key, a private key or both. Reference-counted. Key
/// material never changes once it is set, and is zeroized with the last reference. If a function returns false, it has
/// raised an error and left the key unchanged.
class Key {
 public:
  Key(Provider& provider, const Algorithm& algorithm) : provider_(provider), algorithm_(algorithm) {}
  Key(const Key&) = delete;
  Key& operator=(const Key&) = delete;

  Key* up_ref();
  /// Drops a reference; the last one frees the key.
  void release();
  /// A separate copy of the parts in `selection` (OSSL_KEYMGMT_SELECT_*); nullptr with an error raised on failure.
  Key* duplicate(int selection) const;

  Provider& provider() const { return provider_; }
  const Algorithm& algorithm() const { return algorithm_; }

  bool has_public() const { return !public_key_.empty(); }
  bool has_private() const { return !secret_key_.empty(); }
  /// The set's public key, for a hybrid without the classical share. Here and below, empty if there is none.
  ByteView public_key() const { return public_key_; }
  /// The set's secret key in expanded form.
  ByteView secret_key() const { return secret_key_; }
  /// The seed of the secret key, if the set has that form and it is known.
  ByteView seed() const { return seed_; }
  /// The classical part of a hybrid.
  EVP_PKEY* classical() const { return classical_.get(); }
  /// Submit operations with the set's part of the key; false with an error raised on failure.
  bool start_encapsulate(SecretBytes coins, Pending& out) const;
  bool start_decapsulate(const std::uint8_t* ciphertext, Pending& out) const;
  bool start_sign(const polykem_messages& message, SecretBytes coins, Pending& out) const;
  bool start_verify(const polykem_messages& message, const std::uint8_t* signature, Pending& out) const;
  bool finish(Pending& pending, std::uint8_t* public_out, std::uint8_t* secret_out) const;
  /// The public key as it is sent: for a hybrid, both shares.
  Bytes encoded_public_key() const;

  /// Makes a key pair. coins: the set's random inputs, of the length that keygen takes; empty: random.
  bool generate(SecretBytes coins);
  /// Sets the public key from its encoding. Checks that the classical share is a point and that ML-KEM's key is
  /// reduced.
  bool set_public_key(ByteView encoded);
  /// Sets the private key from its expanded form, and the public key if the secret key contains or, with ML-DSA,
  /// determines it. Parts of ML-DSA's key are compared. Not for hybrids.
  bool set_secret_key(ByteView expanded);
  /// Sets the private key from its seed, and computes the expanded form and the public key. Not for hybrids.
  bool set_seed(ByteView seed);

  /// True if the public key is valid. ML-KEM's was checked when it was set; other KEMs are tested by an encapsulation.
  /// For ML-DSA any key of the right length is valid.
  bool check_public() const;
  /// True if the private key is valid, which a decapsulation tests. ML-DSA's was checked when it was set.
  bool check_private() const;
  /// True if the keys are a pair: the private key decapsulates a ciphertext for the public key. For ML-DSA, the
  /// public key follows from the private key.
  bool check_pair() const;

 private:
  ~Key() = default;
  bool has_length(ByteView bytes, std::size_t expected, const char* what) const;
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

/// Compares in constant time.
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
