// SPDX-License-Identifier: Apache-2.0
// The interface of a suite's KEM, which the library's parameter sets and DHKEM implement.
#pragma once

#include "hpke/hpke.hpp"

namespace polykem::hpke {

/// A KEM over batches [HPKE, 4], on as many threads as a context has. An item that fails has a status and undefined
/// outputs; a call that fails as a whole throws Error. Any number of threads may use an object.
class KemFunctions {
 public:
  /// A key that is prepared once and used by all items of several calls.
  class SharedKey {
   public:
    virtual ~SharedKey() = default;
  };
  /// A key for each item, or a shared one.
  struct Keys {
    const std::uint8_t* each = nullptr;
    const SharedKey* shared = nullptr;
  };

  explicit KemFunctions(const KemSizes& sizes) : sizes_(sizes) {}
  virtual ~KemFunctions() = default;
  KemFunctions(const KemFunctions&) = delete;
  KemFunctions& operator=(const KemFunctions&) = delete;

  const KemSizes& sizes() const noexcept { return sizes_; }

  virtual std::unique_ptr<SharedKey> share_public_key(polykem_context* context, const std::uint8_t* pk) const = 0;
  virtual std::unique_ptr<SharedKey> share_secret_key(polykem_context* context, const std::uint8_t* sk) const = 0;

  /// The first half of DeriveKeyPair.
  virtual void derive_secret_keys(polykem_context* context, std::size_t count, const std::uint8_t* ikm,
                                  std::size_t ikm_bytes, std::uint8_t* sk) const = 0;
  /// Return how many items failed. status: may be nullptr.
  virtual std::size_t public_keys(polykem_context* context, std::size_t count, const std::uint8_t* sk, std::uint8_t* pk,
                                  ItemStatus* status) const = 0;
  /// Writes encapsulations and shared secrets. coins: the random inputs; nullptr: random bytes.
  virtual void encapsulate(polykem_context* context, std::size_t count, const Keys& pk, const std::uint8_t* coins,
                           std::uint8_t* enc, std::uint8_t* shared_secrets, ItemStatus* status) const = 0;
  virtual void decapsulate(polykem_context* context, std::size_t count, const Keys& sk, const std::uint8_t* enc,
                           std::uint8_t* shared_secrets, ItemStatus* status) const = 0;

 private:
  const KemSizes sizes_;
};

/// A KEM that is a parameter set of the library.
std::shared_ptr<const KemFunctions> parameter_set_kem(const KemInfo& kem);
/// DHKEM(X25519, HKDF-SHA256) [RFC9180, 4.1], with OpenSSL's X25519.
std::shared_ptr<const KemFunctions> dhkem_x25519(const KemInfo& kem);

}  // namespace polykem::hpke
