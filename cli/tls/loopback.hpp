// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tls/openssl_objects.hpp"

namespace polykem::cli {

struct Loopback {
  std::string error;                 ///< empty: client and server agree
  double milliseconds = 0;           ///< of both sides, without the work done once per group
  unsigned code_point = 0;           ///< of the negotiated group, if it is a post-quantum one of TLS 1.3
  std::string group;                 ///< its name
  std::string version;               ///< the protocol's, for example "TLSv1.3"
  std::vector<std::string> offered;  ///< the client's groups, the preferred one first
};

/// Lists of groups in OpenSSL's syntax; empty: as the library context is configured.
struct GroupLists {
  std::string client, server;
};

/// A server's key and certificate, made for the test.
class LoopbackServer {
 public:
  enum class Key { kEc, kRsa };
  /// libctx: nullptr for the default library context, with its openssl.cnf.
  explicit LoopbackServer(OSSL_LIB_CTX* libctx, Key key = Key::kEc);
  /// Runs a handshake of a client and a server in this process: in TLS 1.3 if they are given groups, otherwise as
  /// configured.
  Loopback handshake(const GroupLists& groups) const;

 private:
  Loopback handshake_once(const GroupLists& groups) const;

  OSSL_LIB_CTX* libctx_;
  OpensslPtr<EVP_PKEY> key_;
  OpensslPtr<X509> certificate_;
};

}  // namespace polykem::cli
