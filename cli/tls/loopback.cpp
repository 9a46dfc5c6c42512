// SPDX-License-Identifier: Apache-2.0
#include "tls/loopback.hpp"

#include <openssl/err.h>

#include <algorithm>
#include <chrono>

#include "common/exit_codes.hpp"

namespace polykem::cli {
namespace {

constexpr std::size_t kPipeBytes = 128 * 1024;  // more than the largest flight: FrodoKEM-1344's 22 KB and a certificate
constexpr int kMaxFlights = 10;
constexpr std::size_t kRsaBits = 2048;
constexpr long kCertificateSeconds = 3600;

/// Continues one side's handshake. True once it has finished; false if it waits for the other side. Throws CliError.
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

/// Prepares the context of a side. Returns an error; empty on success.
std::string prepare(SSL_CTX* context, const std::string& groups) {
  if (context == nullptr) return "libssl has no context: " + openssl_errors();
  SSL_CTX_set_verify(context, SSL_VERIFY_NONE, nullptr);  // a configuration may demand certificates that are not here
  if (groups.empty()) return "";
  if (SSL_CTX_set1_groups_list(context, groups.c_str()) != 1)
    return "libssl does not take the group: " + openssl_errors();
  SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
  return "";
}

std::string name_of_group(SSL* side, int group) {
  const char* name = SSL_group_to_name(side, group);
  return name == nullptr ? "?" : name;
}

/// Call it only after a handshake, because libssl dereferences a null pointer without a session.
void describe(SSL* server, SSL* client, Loopback& out) {
  out.version = SSL_get_version(client);
  const auto group = static_cast<int>(SSL_get_negotiated_group(client));
  out.group = name_of_group(client, group);
  out.code_point = static_cast<unsigned>(group) & 0xFFFFU;
  std::vector<int> offered(static_cast<std::size_t>(std::max(0L, SSL_get1_groups(server, nullptr))));
  if (!offered.empty()) SSL_get1_groups(server, offered.data());
  for (const int each : offered)
    out.offered.push_back(name_of_group(server, each));
  ERR_clear_error();
}

}  // namespace

LoopbackServer::LoopbackServer(OSSL_LIB_CTX* libctx, Key key)
    : libctx_(libctx),
      key_(key == Key::kEc ? EVP_PKEY_Q_keygen(libctx, nullptr, "EC", "P-256")
                           : EVP_PKEY_Q_keygen(libctx, nullptr, "RSA", kRsaBits)),
      certificate_(X509_new_ex(libctx, nullptr)) {
  if (key_ == nullptr || certificate_ == nullptr || X509_set_version(certificate_.get(), X509_VERSION_3) != 1 ||
      ASN1_INTEGER_set(X509_get_serialNumber(certificate_.get()), 1) != 1 ||
      X509_gmtime_adj(X509_getm_notBefore(certificate_.get()), 0) == nullptr ||
      X509_gmtime_adj(X509_getm_notAfter(certificate_.get()), kCertificateSeconds) == nullptr ||
      X509_set_pubkey(certificate_.get(), key_.get()) != 1 ||
      X509_sign(certificate_.get(), key_.get(), EVP_sha256()) == 0)
    throw CliError(kExitCheckFailed, "no certificate for the handshakes: " + openssl_errors());
}

Loopback LoopbackServer::handshake_once(const GroupLists& groups) const {
  const OpensslPtr<SSL_CTX> server_context(SSL_CTX_new_ex(libctx_, nullptr, TLS_server_method()));
  const OpensslPtr<SSL_CTX> client_context(SSL_CTX_new_ex(libctx_, nullptr, TLS_client_method()));
  Loopback out;
  out.error = prepare(server_context.get(), groups.server);
  if (out.error.empty()) out.error = prepare(client_context.get(), groups.client);
  if (!out.error.empty()) return out;
  SSL_CTX_use_certificate(server_context.get(), certificate_.get());
  SSL_CTX_use_PrivateKey(server_context.get(), key_.get());
  const OpensslPtr<SSL> server(SSL_new(server_context.get())), client(SSL_new(client_context.get()));
  connect(server.get(), client.get());
  const auto start = std::chrono::steady_clock::now();
  try {
    bool done = false;
    for (int flight = 0; flight < kMaxFlights && !done; ++flight) {
      const bool client_done = advance(client.get(), "client");
      done = advance(server.get(), "server") && client_done;
    }
    if (!done) out.error = "the handshake does not end";
  } catch (const CliError& e) {
    out.error = e.what();
  }
  out.milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  if (out.error.empty()) describe(server.get(), client.get(), out);
  return out;
}

Loopback LoopbackServer::handshake(const GroupLists& groups) const {
  ERR_clear_error();
  const Loopback first = handshake_once(groups);
  return first.error.empty() ? handshake_once(groups) : first;
}

}  // namespace polykem::cli
