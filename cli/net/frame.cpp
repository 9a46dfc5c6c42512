// SPDX-License-Identifier: Apache-2.0
#include "net/frame.hpp"

#include <algorithm>
#include <cassert>

namespace polykem::cli::net {
namespace {

constexpr std::size_t kVersionOffset = 4;
constexpr std::size_t kTypeOffset = 5;
constexpr std::size_t kReservedOffset = 6;
constexpr std::size_t kLengthOffset = 8;

bool is_known_type(std::uint8_t type) {
  return type >= static_cast<std::uint8_t>(FrameType::kHello) && type <= static_cast<std::uint8_t>(FrameType::kError);
}

bool is_printable(ByteView text) {
  return std::all_of(text.begin(), text.end(), [](std::uint8_t c) { return c >= 0x20 && c < 0x7f; });
}

std::string_view as_text(ByteView bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::size_t load_be32(ByteView bytes) {
  return std::size_t{bytes[0]} << 24 | std::size_t{bytes[1]} << 16 | std::size_t{bytes[2]} << 8 | bytes[3];
}

Bytes code_and_text(std::uint8_t code, std::string_view text) {
  Bytes payload(1 + text.size());
  payload[0] = code;
  std::copy(text.begin(), text.end(), payload.begin() + 1);
  return payload;
}

/// Checks the header fields that have arrived. kNeedMore: they are valid so far.
ParseStatus check_header_prefix(ByteView bytes) {
  const std::size_t magic_here = std::min(bytes.size(), kMagic.size());
  if (!std::equal(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(magic_here), kMagic.begin())) {
    return ParseStatus::kBadMagic;
  }
  if (bytes.size() > kVersionOffset && bytes[kVersionOffset] != kProtocolVersion) return ParseStatus::kBadVersion;
  if (bytes.size() > kTypeOffset && !is_known_type(bytes[kTypeOffset])) return ParseStatus::kBadType;
  for (std::size_t i = kReservedOffset; i < std::min(bytes.size(), kLengthOffset); ++i) {
    if (bytes[i] != 0) return ParseStatus::kBadType;
  }
  return ParseStatus::kNeedMore;
}

}  // namespace

ParseResult parse_frame(ByteView bytes) noexcept {
  ParseResult result;
  result.status = check_header_prefix(bytes);
  if (result.status != ParseStatus::kNeedMore || bytes.size() < kHeaderBytes) return result;
  result.header_known = true;
  result.type = static_cast<FrameType>(bytes[kTypeOffset]);
  result.length = load_be32(bytes.subspan(kLengthOffset, 4));
  if (result.length > kMaxPayloadBytes) {
    result.status = ParseStatus::kTooLong;
  } else if (bytes.size() - kHeaderBytes >= result.length) {
    result.status = ParseStatus::kComplete;
    result.payload = bytes.subspan(kHeaderBytes, result.length);
    result.consumed = kHeaderBytes + result.length;
  }
  return result;
}

void append_frame(Bytes& out, FrameType type, ByteView payload) {
  assert(payload.size() <= kMaxPayloadBytes);
  const auto length = static_cast<std::uint32_t>(payload.size());
  out.reserve(out.size() + kHeaderBytes + payload.size());
  out.insert(out.end(), kMagic.begin(), kMagic.end());
  out.insert(out.end(), {kProtocolVersion, static_cast<std::uint8_t>(type), 0, 0});
  for (int shift = 24; shift >= 0; shift -= 8)
    out.push_back(static_cast<std::uint8_t>(length >> shift));
  out.insert(out.end(), payload.begin(), payload.end());
}

std::optional<Hello> parse_hello(ByteView payload) noexcept {
  if (payload.size() < 2 || payload.size() > 1 + kMaxSchemeNameBytes) return std::nullopt;
  const std::uint8_t role = payload[0];
  if (role != static_cast<std::uint8_t>(Role::kServerDecaps) &&
      role != static_cast<std::uint8_t>(Role::kServerEncaps)) {
    return std::nullopt;
  }
  const ByteView name = payload.subspan(1);
  if (!is_printable(name)) return std::nullopt;
  return Hello{static_cast<Role>(role), as_text(name)};
}

Bytes encode_hello(Role role, std::string_view scheme) {
  return code_and_text(static_cast<std::uint8_t>(role), scheme);
}

std::optional<ErrorMessage> parse_error(ByteView payload) noexcept {
  if (payload.empty() || payload.size() > 1 + kMaxErrorTextBytes) return std::nullopt;
  const ByteView text = payload.subspan(1);
  if (!is_printable(text)) return std::nullopt;
  return ErrorMessage{payload[0], as_text(text)};
}

Bytes encode_error(std::uint8_t code, std::string_view text) {
  return code_and_text(code, text.substr(0, kMaxErrorTextBytes));
}

std::string_view role_name(Role role) noexcept {
  return role == Role::kServerDecaps ? "server-decaps" : "server-encaps";
}

std::optional<Role> role_from_name(std::string_view name) noexcept {
  if (name == "server-decaps") return Role::kServerDecaps;
  if (name == "server-encaps") return Role::kServerEncaps;
  return std::nullopt;
}

}  // namespace polykem::cli::net
