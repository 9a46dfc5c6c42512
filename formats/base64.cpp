// SPDX-License-Identifier: Apache-2.0
#include "formats/base64.hpp"

#include <algorithm>
#include <utility>

#include "formats/error.hpp"

namespace polykem::formats {
namespace {

constexpr std::size_t kBytesPerLine = 48;

/** All ones if low <= value <= high, else zero; values are small and not negative. */
constexpr int range_mask(int value, int low, int high) {
  return ~(((value - low) | (high - value)) >> 31);
}

/** The base64 character of a value 0..63, by arithmetic: a table would be indexed by secrets. */
constexpr std::uint8_t encode_digit(int v) {
  int c = range_mask(v, 0, 25) & (v + 'A');
  c |= range_mask(v, 26, 51) & (v - 26 + 'a');
  c |= range_mask(v, 52, 61) & (v - 52 + '0');
  c |= range_mask(v, 62, 62) & '+';
  c |= range_mask(v, 63, 63) & '/';
  return static_cast<std::uint8_t>(c);
}

/** The value of a base64 character, or -1. */
constexpr int decode_digit(std::uint8_t character) {
  const int c = character;
  int v = range_mask(c, 'A', 'Z') & (c - 'A' + 1);
  v |= range_mask(c, 'a', 'z') & (c - 'a' + 27);
  v |= range_mask(c, '0', '9') & (c - '0' + 53);
  v |= range_mask(c, '+', '+') & 63;
  v |= range_mask(c, '/', '/') & 64;
  return v - 1;
}

void encode_line(SecretBytes& out, const std::uint8_t* bytes, std::size_t size) {
  for (std::size_t i = 0; i < size; i += 3) {
    const std::size_t n = std::min<std::size_t>(3, size - i);
    const int word = (bytes[i] << 16) | ((n > 1 ? bytes[i + 1] : 0) << 8) | (n > 2 ? bytes[i + 2] : 0);
    for (std::size_t digit = 0; digit < 4; ++digit) {
      const int shift = 18 - 6 * static_cast<int>(digit);
      out.push_back(digit <= n ? encode_digit((word >> shift) & 63) : std::uint8_t{'='});
    }
  }
  out.push_back('\n');
}

}  // namespace

void append_base64(SecretBytes& out, ByteView bytes) {
  for (std::size_t i = 0; i < bytes.size(); i += kBytesPerLine) {
    encode_line(out, bytes.data() + i, std::min(kBytesPerLine, bytes.size() - i));
  }
}

void Base64Decoder::line(std::string_view text) {
  // Four characters make at most three bytes.
  if (bytes_.size() + text.size() > kMostBytes) throw FormatError("the block is longer than any key or ciphertext");
  for (const char c : text) {
    if (c == '=') {
      ++padding_;
      continue;
    }
    if (padding_ > 0) throw FormatError("base64 goes on after its padding");
    const int value = decode_digit(static_cast<std::uint8_t>(c));
    bad_ |= value;
    word_ = (word_ << 6) | (static_cast<std::uint32_t>(value) & 63U);
    if (++digits_ == 4) flush(3);
  }
  if (bad_ < 0) throw FormatError("a character that is not base64");
}

SecretBytes Base64Decoder::finish() {
  if (digits_ == 1 || (digits_ == 0 && padding_ > 0) || (digits_ > 1 && digits_ + padding_ != 4)) {
    throw FormatError("the base64 text is incomplete");
  }
  if (digits_ > 1) {
    const unsigned bytes = digits_ - 1;
    word_ <<= 6 * (4 - digits_);
    if ((word_ & ((1U << (8 * (3 - bytes))) - 1U)) != 0) {
      throw FormatError("the base64 text has stray bits at its end");
    }
    flush(bytes);
  }
  return std::move(bytes_);
}

void Base64Decoder::flush(unsigned bytes) {
  for (unsigned i = 0; i < bytes; ++i)
    bytes_.push_back(static_cast<std::uint8_t>(word_ >> (16 - 8 * i)));
  word_ = 0;
  digits_ = 0;
}

}  // namespace polykem::formats
