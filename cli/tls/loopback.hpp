// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tls/openssl_objects.hpp"

namespace polykem::cli {

struct Loopback {
  std::string error;                 ///< empty: client and server agree
  double milliseconds = 0;           ///< both sides together, without what is done once for a group
  unsigned code_point = 0;           ///< that was negotiated, of a group of TLS 1.3 that is not classical
  std::string group;                 ///< its name
  std::string version;               ///< of the protocol, "TLSv1.3" for example
  std::vector<std::string> offered;  ///< the client's groups, the best first
};

/// Lists of groups as OpenSSL takes them; empty: what the library context's configuration says.
struct GroupLists {
  std::string client, server;
};

/// A server's key and certificate, made on the spot.
class LoopbackServer {
 public:
  enum class Key { kEc, kRsa };
  /// nullptr: the library context that every program has, with its openssl.cnf.
  explicit LoopbackServer(OSSL_LIB_CTX* libctx, Key key = Key::kEc);
  /// Between a client and a server in this process: in TLS 1.3 where they are told a group, else as configured.
  Loopback handshake(const GroupLists& groups) const;

 private:
  Loopback handshake_once(const GroupLists& groups) const;

  OSSL_LIB_CTX* libctx_;
  OpensslPtr<EVP_PKEY> key_;
  OpensslPtr<X509> certificate_;
};

}  // namespace polykem::cli
