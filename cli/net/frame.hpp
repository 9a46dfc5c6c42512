// SPDX-License-Identifier: Apache-2.0
// The frames of the exchange protocol as bytes. Pure functions: no sockets, no allocation while parsing.
// docs/protocol.md describes the protocol.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace polykem::cli::net {

using Bytes = std::vector<std::uint8_t>;
using ByteView = std::span<const std::uint8_t>;

inline constexpr std::array<std::uint8_t, 4> kMagic = {'P', 'K', 'E', 'X'};
inline constexpr std::uint8_t kProtocolVersion = 1;
inline constexpr std::size_t kHeaderBytes = 12;
/// The longest frame, for any parameter set.
inline constexpr std::size_t kMaxPayloadBytes = 65536;
inline constexpr std::size_t kMaxSchemeNameBytes = 64;
inline constexpr std::size_t kMaxErrorTextBytes = 255;

enum class FrameType : std::uint8_t { kHello = 1, kPublicKey = 2, kCiphertext = 3, kConfirm = 4, kError = 5 };

/// The end that makes the key pairs: the server in kServerDecaps, the clients in kServerEncaps.
enum class Role : std::uint8_t { kServerDecaps = 1, kServerEncaps = 2 };

enum class ParseStatus {
  kComplete,    ///< a whole frame: type, payload and consumed are set
  kNeedMore,    ///< a prefix of a frame; type and length are set if header_known
  kBadMagic,    ///< the first bytes are not a frame of this protocol
  kBadVersion,  ///< another version of the protocol
  kBadType,     ///< an unknown frame type or a reserved field that is not zero
  kTooLong      ///< the length field is above kMaxPayloadBytes
};

struct ParseResult {
  ParseStatus status = ParseStatus::kNeedMore;
  bool header_known = false;
  FrameType type{};
  std::size_t length = 0;    ///< payload bytes, from the header
  ByteView payload{};        ///< points into the parsed bytes
  std::size_t consumed = 0;  ///< bytes of the whole frame, 0 unless kComplete
};

/// Parses the frame that starts at bytes[0], without state. Any input is allowed. A wrong byte is reported as soon as
/// it has arrived, and the length field is checked before the payload arrives.
ParseResult parse_frame(ByteView bytes) noexcept;

/// Appends one frame. payload.size() <= kMaxPayloadBytes.
void append_frame(Bytes& out, FrameType type, ByteView payload);

struct Hello {
  Role role;
  std::string_view scheme;  ///< 1..kMaxSchemeNameBytes printable ASCII characters, points into the payload
};

/// The payload of a HELLO frame: role (1 byte), scheme name. std::nullopt if it is malformed.
std::optional<Hello> parse_hello(ByteView payload) noexcept;
Bytes encode_hello(Role role, std::string_view scheme);

struct ErrorMessage {
  std::uint8_t code;
  std::string_view text;  ///< up to kMaxErrorTextBytes printable ASCII characters, points into the payload
};

/// The payload of an ERROR frame: code (1 byte), text. std::nullopt if it is malformed.
std::optional<ErrorMessage> parse_error(ByteView payload) noexcept;
Bytes encode_error(std::uint8_t code, std::string_view text);

/// The role's name: "server-decaps" or "server-encaps".
std::string_view role_name(Role role) noexcept;
std::optional<Role> role_from_name(std::string_view name) noexcept;

}  // namespace polykem::cli::net
