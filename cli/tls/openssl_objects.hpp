// SPDX-License-Identifier: Apache-2.0
// Owning pointers to OpenSSL's objects, and its errors as exceptions.
#pragma once

#include <openssl/conf.h>
#include <openssl/provider.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <memory>
#include <string>

namespace polykem::cli {

struct OpensslFree {
  void operator()(OSSL_LIB_CTX* p) const { OSSL_LIB_CTX_free(p); }
  void operator()(OSSL_PROVIDER* p) const { OSSL_PROVIDER_unload(p); }
  void operator()(CONF* p) const { NCONF_free(p); }
  void operator()(BIO* p) const { BIO_free(p); }
  void operator()(EVP_PKEY* p) const { EVP_PKEY_free(p); }
  void operator()(X509* p) const { X509_free(p); }
  void operator()(SSL* p) const { SSL_free(p); }
  void operator()(SSL_CTX* p) const { SSL_CTX_free(p); }
};
template <class T>
using OpensslPtr = std::unique_ptr<T, OpensslFree>;

/// The errors in OpenSSL's queue, oldest first, separated by "; ". Empties the queue.
std::string openssl_errors();

}  // namespace polykem::cli
