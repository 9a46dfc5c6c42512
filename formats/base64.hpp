// SPDX-License-Identifier: Apache-2.0
// Base64 without a branch or an address that depends on what is encoded.
#pragma once

#include <polykem/polykem.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace polykem::formats {

/// The most bytes that are decoded: more than any key or ciphertext has.
inline constexpr std::size_t kMaxBytes = std::size_t{1} << 20;

/// The length of the base64 of `bytes` bytes, in lines of 64 characters [RFC7468, 2] with line ends.
std::size_t base64_bytes(std::size_t bytes);
/// Writes the base64 of `bytes` to `out` and returns its end.
std::uint8_t* write_base64(std::uint8_t* out, ByteView bytes);
/// Appends the base64 of `bytes`.
void append_base64(SecretBytes& out, ByteView bytes);

/// Decodes text line by line. Only the correct padding at the very end is allowed.
class Base64Decoder {
 public:
  enum class Style {
    kStrict,   ///< canonical: no blanks, no stray bits before the padding
    kLenient,  ///< as OpenSSL reads it: both are ignored
  };
  explicit Base64Decoder(Style style = Style::kStrict) : style_(style) {}
  /// Decodes a line. Throws FormatError for a character that is not base64 and for more than kMaxBytes.
  void line(std::string_view text);
  /// The bytes of all lines. Throws FormatError if the text is incomplete.
  SecretBytes finish();

 private:
  void flush(unsigned bytes);

  Style style_;
  SecretBytes bytes_;
  std::uint32_t word_ = 0;
  unsigned digits_ = 0;
  unsigned padding_ = 0;
  int bad_ = 0;
};

}  // namespace polykem::formats
