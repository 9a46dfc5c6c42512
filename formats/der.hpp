// SPDX-License-Identifier: Apache-2.0
// The Distinguished Encoding Rules [X690], as far as keys need them: tags of one byte, and definite lengths in minimal
// form.
#pragma once

#include <polykem/polykem.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>

namespace polykem::formats {

namespace der {
inline constexpr std::uint8_t kInteger = 0x02;
inline constexpr std::uint8_t kBitString = 0x03;
inline constexpr std::uint8_t kOctetString = 0x04;
inline constexpr std::uint8_t kObjectIdentifier = 0x06;
inline constexpr std::uint8_t kSequence = 0x30;
/// The tag of [n] IMPLICIT with a primitive type.
constexpr std::uint8_t context(unsigned n) {
  return static_cast<std::uint8_t>(0x80U | n);
}
/// The tag of [n] IMPLICIT with a SEQUENCE or SET.
constexpr std::uint8_t context_constructed(unsigned n) {
  return static_cast<std::uint8_t>(0xA0U | n);
}
}  // namespace der

/// An element's header.
struct DerHeader {
  std::uint8_t tag;
  std::size_t header_bytes, content_bytes;
};

/// The header at the beginning of `bytes`, whose contents may be truncated; nothing if it is not valid DER.
std::optional<DerHeader> der_header(ByteView bytes);

/// Appends an element with the concatenated `parts` as contents.
void append_der(SecretBytes& out, std::uint8_t tag, std::initializer_list<ByteView> parts);

/// Reads consecutive elements.
class DerReader {
 public:
  /// `bytes` must stay valid.
  explicit DerReader(ByteView bytes) : rest_(bytes) {}
  bool empty() const { return rest_.size() == 0; }
  /// True if the next element has that tag.
  bool next_is(std::uint8_t tag) const { return !empty() && *rest_.data() == tag; }
  /// The contents of the next element. Throws FormatError if it has another tag, is truncated or is not DER. name: the
  /// element's name in the message.
  ByteView take(std::uint8_t tag, const char* name);
  /// Throws FormatError if any bytes are left. name: what was read.
  void finish(const char* name) const;

 private:
  ByteView rest_;
};

}  // namespace polykem::formats
