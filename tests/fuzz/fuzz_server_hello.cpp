// SPDX-License-Identifier: Apache-2.0
// Parses arbitrary bytes as a server's first message, as tls-check --connect does. A truncated message is not accepted.
#include <span>

#include "common.hpp"
#include "tls/server_hello.hpp"

using polykem::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  polykem::cli::ServerHello hello;
  const std::span<const uint8_t> message(data, size);
  if (!polykem::cli::read_server_hello(message, hello)) return 0;
  require(hello.group <= 0xFFFF, "a group has two bytes");
  const size_t length = 4 + (size_t{data[1]} << 16U | size_t{data[2]} << 8U | data[3]);
  require(length <= size, "a whole message");
  for (size_t cut = 0; cut < length; ++cut)
    require(!polykem::cli::read_server_hello(message.first(cut), hello), "a message that is cut is refused");
  return 0;
}
