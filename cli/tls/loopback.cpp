// SPDX-License-Identifier: Apache-2.0
#include "tls/loopback.hpp"

#include <openssl/err.h>

#include <chrono>

#include "common/exit_codes.hpp"

namespace polykem::cli {
namespace {

constexpr std::size_t kPipeBytes = 128 * 1024;  // more than the largest flight: FrodoKEM-1344's 22 KB and a certificate
constexpr int kMostFlights = 10;
constexpr long kCertificateSeconds = 3600;

/** True when that side has finished; false if it waits for the other. Throws CliError. */
bool advance(SSL* side, const char* who) {
  const int result = SSL_do_handshake(side);
  if (result == 1) return true;
  const int error = SSL_get_error(side, result);
  if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return false;
  throw CliError(kExitCheckFailed, std::string(who) + ": " + openssl_errors());
}

void connect(SSL* server, SSL* client) {
  BIO *a = nullptr, *b = nullptr;
  if (BIO_new_bio_pair(&a, kPipeBytes, &b, kPipeBytes) != 1) throw std::bad_alloc();
  SSL_set_bio(server, a, a);
  SSL_set_bio(client, b, b);
  SSL_set_accept_state(server);
  SSL_set_connect_state(client);
}

}  // namespace

LoopbackServer::LoopbackServer(OSSL_LIB_CTX* libctx)
    : libctx_(libctx),
      key_(EVP_PKEY_Q_keygen(libctx, nullptr, "EC", "P-256")),
      certificate_(X509_new_ex(libctx, nullptr)) {
  if (key_ == nullptr || certificate_ == nullptr || X509_set_version(certificate_.get(), X509_VERSION_3) != 1 ||
      ASN1_INTEGER_set(X509_get_serialNumber(certificate_.get()), 1) != 1 ||
      X509_gmtime_adj(X509_getm_notBefore(certificate_.get()), 0) == nullptr ||
      X509_gmtime_adj(X509_getm_notAfter(certificate_.get()), kCertificateSeconds) == nullptr ||
      X509_set_pubkey(certificate_.get(), key_.get()) != 1 ||
      X509_sign(certificate_.get(), key_.get(), EVP_sha256()) == 0)
    throw CliError(kExitCheckFailed, "no certificate for the handshakes: " + openssl_errors());
}

Loopback LoopbackServer::handshake_once(const std::string& group) const {
  const OpensslPtr<SSL_CTX> server_context(SSL_CTX_new_ex(libctx_, nullptr, TLS_server_method()));
  const OpensslPtr<SSL_CTX> client_context(SSL_CTX_new_ex(libctx_, nullptr, TLS_client_method()));
  Loopback out;
  for (SSL_CTX* context : {server_context.get(), client_context.get()}) {
    if (context == nullptr || SSL_CTX_set1_groups_list(context, group.c_str()) != 1) {
      out.error = "libssl does not take the group: " + openssl_errors();
      return out;
    }
    SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
  }
  SSL_CTX_use_certificate(server_context.get(), certificate_.get());
  SSL_CTX_use_PrivateKey(server_context.get(), key_.get());
  const OpensslPtr<SSL> server(SSL_new(server_context.get())), client(SSL_new(client_context.get()));
  connect(server.get(), client.get());
  const auto start = std::chrono::steady_clock::now();
  try {
    bool done = false;
    for (int flight = 0; flight < kMostFlights && !done; ++flight) {
      const bool client_done = advance(client.get(), "client");
      done = advance(server.get(), "server") && client_done;
    }
    if (!done) out.error = "the handshake does not end";
  } catch (const CliError& e) {
    out.error = e.what();
  }
  out.milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  out.code_point = static_cast<unsigned>(SSL_get_negotiated_group(client.get())) & 0xFFFFU;
  return out;
}

Loopback LoopbackServer::handshake(const std::string& group) const {
  ERR_clear_error();
  const Loopback first = handshake_once(group);
  return first.error.empty() ? handshake_once(group) : first;
}

}  // namespace polykem::cli
