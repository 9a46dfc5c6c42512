// SPDX-License-Identifier: Apache-2.0
// A TLS client and a TLS server that talk in memory.
#pragma once

#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <poll.h>

#include "provider/slow_device.hpp"
#include "provider/support.hpp"

namespace polykem::provider::test {

struct TlsFree {
  void operator()(SSL* p) const { SSL_free(p); }
  void operator()(SSL_CTX* p) const { SSL_CTX_free(p); }
  void operator()(X509* p) const { X509_free(p); }
};
using SslPtr = std::unique_ptr<SSL, TlsFree>;
using SslContextPtr = std::unique_ptr<SSL_CTX, TlsFree>;

/// A server's context with a certificate of its own, of P-256 or of that signature algorithm.
inline SslContextPtr server_context(OSSL_LIB_CTX* library, const char* properties = nullptr,
                                    const char* signature = nullptr) {
  SslContextPtr context(SSL_CTX_new_ex(library, properties, TLS_server_method()));
  const KeyPtr key(signature == nullptr ? EVP_PKEY_Q_keygen(library, nullptr, "EC", "P-256")
                                        : EVP_PKEY_Q_keygen(library, properties, signature));
  const std::unique_ptr<X509, TlsFree> certificate(X509_new_ex(library, nullptr));
  X509_set_version(certificate.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), 0);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
  X509_set_pubkey(certificate.get(), key.get());
  X509_sign(certificate.get(), key.get(), signature == nullptr ? EVP_sha256() : nullptr);
  SSL_CTX_use_certificate(context.get(), certificate.get());
  SSL_CTX_use_PrivateKey(context.get(), key.get());
  return context;
}

/// A client and a server, connected in memory.
struct Pair {
  SslContextPtr server_context, client_context;
  SslPtr server, client;
  int pauses = 0;

  Pair(OSSL_LIB_CTX* library, const char* server_groups, const char* client_groups, long mode = 0,
       const char* properties = nullptr, const char* signature = nullptr)
      : server_context(test::server_context(library, properties, signature)),
        client_context(SSL_CTX_new_ex(library, properties, TLS_client_method())) {
    for (SSL_CTX* context : {server_context.get(), client_context.get()})
      SSL_CTX_set_mode(context, mode);
    EXPECT_EQ(SSL_CTX_set1_groups_list(server_context.get(), server_groups), 1) << errors();
    EXPECT_EQ(SSL_CTX_set1_groups_list(client_context.get(), client_groups), 1) << errors();
    server.reset(SSL_new(server_context.get()));
    client.reset(SSL_new(client_context.get()));
    BIO *a = nullptr, *b = nullptr;
    BIO_new_bio_pair(&a, 65536, &b, 65536);
    SSL_set_bio(server.get(), a, a);
    SSL_set_bio(client.get(), b, b);
    SSL_set_accept_state(server.get());
    SSL_set_connect_state(client.get());
  }

  /// True until the handshake of that side has ended, well or not.
  bool step(SSL* ssl, bool wait = true) {
    const int result = SSL_do_handshake(ssl);
    if (result == 1) return false;
    const int error = SSL_get_error(ssl, result);
    if (error == SSL_ERROR_WANT_ASYNC) {
      ++pauses;
      if (wait) {
        polykem_slow_device_release();
        wait_for(ssl);
      }
      return true;
    }
    return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
  }

  static void wait_for(SSL* ssl) {
    OSSL_ASYNC_FD fds[4];
    std::size_t count = 0;
    ASSERT_EQ(SSL_get_all_async_fds(ssl, nullptr, &count), 1);
    ASSERT_EQ(count, 1U);
    SSL_get_all_async_fds(ssl, fds, &count);
    pollfd poll_fd{fds[0], POLLIN, 0};
    EXPECT_EQ(poll(&poll_fd, 1, 100000), 1) << "nobody woke the job";
  }

  bool handshake(bool wait = true) {
    for (bool more = true; more;) {
      more = step(client.get(), wait);
      more = step(server.get(), wait) || more;
    }
    return SSL_is_init_finished(client.get()) == 1 && SSL_is_init_finished(server.get()) == 1;
  }
};

}  // namespace polykem::provider::test
