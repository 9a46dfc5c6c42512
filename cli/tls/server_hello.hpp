// SPDX-License-Identifier: Apache-2.0
// Reads the group that a ServerHello selects [RFC8446, 4.1.3]. The bytes are untrusted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace polykem::cli {

struct ServerHello {
  bool is_retry = false;  ///< a HelloRetryRequest: the server wants another key share
  unsigned group = 0;     ///< of the key share or, in a retry, the requested one; 0: none
};

/// Parses a handshake message with its header of four bytes. Returns false if it is not a whole ServerHello.
bool read_server_hello(std::span<const std::uint8_t> message, ServerHello& out);

}  // namespace polykem::cli
