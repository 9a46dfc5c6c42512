// SPDX-License-Identifier: Apache-2.0
// A TLS client that connects to a server to see which group it negotiates.
#pragma once

#include <chrono>
#include <string>

#include "tls/openssl_objects.hpp"

namespace polykem::cli {

struct Endpoint {
  std::string host, port;
};
/// Parses "HOST:PORT", where an IPv6 address is in brackets. Throws CliError (usage).
Endpoint parse_endpoint(const std::string& text);

struct Probe {
  std::string address;  ///< the host's address
  std::string version;  ///< the protocol's, for example "TLSv1.3"
  std::string cipher;
  std::string group;        ///< "" if there is none, as with RSA in TLS 1.2
  unsigned code_point = 0;  ///< the group's, in TLS 1.3
  bool retried = false;     ///< the server asked for another key share
  std::string subject;      ///< of the server's certificate, which is not verified; empty: it sent none
  double milliseconds = 0;  ///< of the TLS handshake, without TCP's
};

/// groups: a list in OpenSSL's syntax; a key share is sent for the first. Throws CliError: io if the network fails or
/// the time is over, bad input if the peer does not speak TLS, check failed if it refuses what is offered.
Probe probe_server(OSSL_LIB_CTX* context, const Endpoint& server, const std::string& groups,
                   std::chrono::milliseconds timeout);

}  // namespace polykem::cli
