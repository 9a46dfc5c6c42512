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
/// "HOST:PORT", where an IPv6 address stands in brackets. Throws CliError (usage).
Endpoint parse_endpoint(const std::string& text);

struct Probe {
  std::string address;  ///< where the host was found
  std::string version;  ///< of the protocol, "TLSv1.3" for example
  std::string cipher;
  std::string group;        ///< "" if there is none, as with RSA in TLS 1.2
  unsigned code_point = 0;  ///< of the group in TLS 1.3
  bool retried = false;     ///< the server asked for another key share than the first
  std::string subject;      ///< of its certificate, which is not verified; empty: it sent none
  double milliseconds = 0;  ///< of the handshake, without TCP's
};

/// groups: a list as OpenSSL takes it; a key share is sent for the first. Throws CliError: io if the network fails or
/// the time is over, bad input if the peer does not speak TLS, check failed if it refuses what is offered.
Probe probe_server(OSSL_LIB_CTX* context, const Endpoint& server, const std::string& groups,
                   std::chrono::milliseconds timeout);

}  // namespace polykem::cli
