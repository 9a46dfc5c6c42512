// SPDX-License-Identifier: Apache-2.0
// What libcrypto hands out, owned.
#pragma once

#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>

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
using NumberPtr = std::unique_ptr<BIGNUM, Freed<BN_clear_free>>;
using NumberContextPtr = std::unique_ptr<BN_CTX, Freed<BN_CTX_free>>;
using GroupPtr = std::unique_ptr<EC_GROUP, Freed<EC_GROUP_free>>;
using PointPtr = std::unique_ptr<EC_POINT, Freed<EC_POINT_clear_free>>;

/// What fails in its lifetime leaves nothing in the thread's error queue: failures are statuses here.
class ErrorMark {
 public:
  ErrorMark() { ERR_set_mark(); }
  ~ErrorMark() { ERR_pop_to_mark(); }
  ErrorMark(const ErrorMark&) = delete;
  ErrorMark& operator=(const ErrorMark&) = delete;
};

/// Algorithms of a suite, fetched.
struct Algorithms {
  DigestPtr kdf;       ///< of the suite's KDF
  DigestPtr shake256;  ///< of key derivation [HPKEPQ, 3] and expansion [HYBRIDKEMS, 5.1.1]
  DigestPtr sha3;      ///< of the hybrids' combiner
  CipherPtr aead;
  GroupPtr group;  ///< of the hybrids with a NIST curve, else null
};

}  // namespace polykem::hpke
