// SPDX-License-Identifier: Apache-2.0
// Owning pointers to libcrypto's objects.
#pragma once

#include <openssl/err.h>
#include <openssl/evp.h>
#include <polykem/polykem.hpp>

#include <memory>

namespace polykem::hpke {

template <auto kFree>
struct Freed {
  template <class T>
  void operator()(T* object) const noexcept {
    kFree(object);
  }
};

using DigestPtr = std::unique_ptr<EVP_MD, Freed<EVP_MD_free>>;
using CipherPtr = std::unique_ptr<EVP_CIPHER, Freed<EVP_CIPHER_free>>;
using DigestContextPtr = std::unique_ptr<EVP_MD_CTX, Freed<EVP_MD_CTX_free>>;
using CipherContextPtr = std::unique_ptr<EVP_CIPHER_CTX, Freed<EVP_CIPHER_CTX_free>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using KeyContextPtr = std::unique_ptr<EVP_PKEY_CTX, Freed<EVP_PKEY_CTX_free>>;
using KeyExchangePtr = std::unique_ptr<EVP_KEYEXCH, Freed<EVP_KEYEXCH_free>>;

inline DigestPtr fetch_digest(const char* name) {
  DigestPtr digest(EVP_MD_fetch(nullptr, name, nullptr));
  if (!digest) throw Error(POLYKEM_ERR_BACKEND_UNAVAILABLE, name);
  return digest;
}

/// Discards errors that are raised in the thread's error queue during its lifetime, since failures are statuses here.
class ErrorMark {
 public:
  ErrorMark() { ERR_set_mark(); }
  ~ErrorMark() { ERR_pop_to_mark(); }
  ErrorMark(const ErrorMark&) = delete;
  ErrorMark& operator=(const ErrorMark&) = delete;
};

/// The fetched algorithms of a suite's KDF and AEAD.
struct Algorithms {
  DigestPtr kdf;
  CipherPtr aead;  ///< null for export only
};

}  // namespace polykem::hpke
