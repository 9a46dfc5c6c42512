// SPDX-License-Identifier: Apache-2.0
// The Distinguished Encoding Rules [X690], as far as keys need them: tags of one byte, definite lengths in as few bytes
// as they take.
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
/// [n] IMPLICIT of a type whose encoding is not made of others.
constexpr std::uint8_t context(unsigned n) {
  return static_cast<std::uint8_t>(0x80U | n);
}
/// [n] IMPLICIT of a SEQUENCE or SET.
constexpr std::uint8_t context_constructed(unsigned n) {
  return static_cast<std::uint8_t>(0xA0U | n);
}
}  // namespace der

/// What an element begins with.
struct DerHeader {
  std::uint8_t tag;
  std::size_t header_bytes, content_bytes;
};

/// The header at the beginning of `bytes`, of which the contents may be cut off; nothing if it is not one of DER.
std::optional<DerHeader> der_header(ByteView bytes);

/// Appends an element whose contents are `parts`, one after the other.
void append_der(SecretBytes& out, std::uint8_t tag, std::initializer_list<ByteView> parts);

/// Reads elements one after the other.
class DerReader {
 public:
  /// bytes: must stay valid.
  explicit DerReader(ByteView bytes) : rest_(bytes) {}
  bool empty() const { return rest_.size() == 0; }
  /// True if an element with that tag is next.
  bool next_is(std::uint8_t tag) const { return !empty() && *rest_.data() == tag; }
  /// The contents of the next element. Throws FormatError, which calls the element `name`, if it has another tag, is
  /// cut off or is not DER.
  ByteView take(std::uint8_t tag, const char* name);
  /// Throws FormatError if anything is left; `name` is what was read.
  void finish(const char* name) const;

 private:
  ByteView rest_;
};

}  // namespace polykem::formats
