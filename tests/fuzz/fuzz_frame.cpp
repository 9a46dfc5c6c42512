// SPDX-License-Identifier: Apache-2.0
// Parses arbitrary bytes as frames of the exchange protocol, with the same result at once and byte by byte.
#include <cstring>
#include <span>

#include "common.hpp"
#include "net/frame.hpp"

namespace net = polykem::cli::net;
using polykem::fuzz::require;

namespace {

/// Parses as a reader does that receives the bytes one at a time.
net::ParseResult parse_growing(net::ByteView bytes) {
  for (size_t have = 0; have < bytes.size(); ++have) {
    const net::ParseResult result = net::parse_frame(bytes.first(have));
    if (result.status != net::ParseStatus::kNeedMore) return result;
  }
  return net::parse_frame(bytes);
}

void check_payload(const net::ParseResult& frame) {
  require(frame.payload.size() == frame.length && frame.length <= net::kMaxPayloadBytes, "the payload's length");
  require(frame.consumed == frame.length + net::kHeaderBytes, "a frame is its header and its payload");
  net::Bytes again;
  net::append_frame(again, frame.type, frame.payload);
  const net::ParseResult same = net::parse_frame(again);
  require(same.status == net::ParseStatus::kComplete && same.type == frame.type, "what is parsed can be written");
  if (const auto hello = net::parse_hello(frame.payload)) {
    require(!hello->scheme.empty() && hello->scheme.size() <= net::kMaxSchemeNameBytes, "the scheme's name");
    const net::Bytes encoded = net::encode_hello(hello->role, hello->scheme);
    require(std::memcmp(encoded.data(), frame.payload.data(), encoded.size()) == 0, "HELLO survives a round trip");
  }
  if (const auto error = net::parse_error(frame.payload)) {
    require(error->text.size() <= net::kMaxErrorTextBytes, "the text's length");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const net::ByteView bytes(data, size);
  const net::ParseResult whole = net::parse_frame(bytes);
  const net::ParseResult growing = parse_growing(bytes);
  require(whole.status == growing.status, "the same answer however the bytes arrive");
  require(whole.consumed <= size, "not more consumed than there is");
  if (whole.status == net::ParseStatus::kComplete) check_payload(whole);
  return 0;
}
