// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tls/openssl_objects.hpp"

namespace polykem::cli {

struct Loopback {
  std::string error;       /**< empty: client and server agree */
  double milliseconds = 0; /**< both sides together, without what is done once for a group */
  unsigned code_point = 0; /**< that was negotiated */
};

/** A server's key and certificate, made on the spot. */
class LoopbackServer {
 public:
  explicit LoopbackServer(OSSL_LIB_CTX* libctx);
  /** TLS 1.3 between a client and a server in this process, who know that group and no other. */
  Loopback handshake(const std::string& group) const;

 private:
  Loopback handshake_once(const std::string& group) const;

  OSSL_LIB_CTX* libctx_;
  OpensslPtr<EVP_PKEY> key_;
  OpensslPtr<X509> certificate_;
};

}  // namespace polykem::cli
