// SPDX-License-Identifier: Apache-2.0
#include "formats/base64.hpp"

#include <bit>
#include <cstring>
#include <utility>

#include "formats/error.hpp"

namespace polykem::formats {
namespace {

constexpr std::size_t kBytesPerLine = 48, kCharactersPerLine = 64;

/// Sixteen characters, or their values 0..63.
using Digits = std::int8_t __attribute__((vector_size(16)));

/// All ones if low <= value <= high, else zero. Values are small and not negative.
constexpr int range_mask(int value, int low, int high) {
  return ~(((value - low) | (high - value)) >> 31);
}

/// The value of a base64 character, or -1.
constexpr int decode_digit(std::uint8_t character) {
  const int c = character;
  int v = range_mask(c, 'A', 'Z') & (c - 'A' + 1);
  v |= range_mask(c, 'a', 'z') & (c - 'a' + 27);
  v |= range_mask(c, '0', '9') & (c - '0' + 53);
  v |= range_mask(c, '+', '+') & 63;
  v |= range_mask(c, '/', '/') & 64;
  return v - 1;
}

constexpr bool kSwap = std::endian::native == std::endian::little;

std::uint64_t load_big_endian(const std::uint8_t* bytes) {
  std::uint32_t word;
  std::memcpy(&word, bytes, sizeof word);
  return kSwap ? __builtin_bswap32(word) : word;
}

/// Splits six bytes into eight values of six bits.
void split_digits(std::uint8_t* out, const std::uint8_t* bytes) {
  std::uint64_t x = (load_big_endian(bytes) << 16) | (load_big_endian(bytes + 2) & 0xFFFF);
  x = ((x & 0xFFFFFF000000) << 8) | (x & 0xFFFFFF);                // 24 bits in each 32
  x = ((x & 0x00FFF00000FFF000) << 4) | (x & 0x00000FFF00000FFF);  // 12 in each 16
  x = ((x & 0x0FC00FC00FC00FC0) << 2) | (x & 0x003F003F003F003F);  // 6 in each 8
  x = kSwap ? __builtin_bswap64(x) : x;
  std::memcpy(out, &x, sizeof x);
}

/// The characters of values, computed, because secrets would index a table.
Digits characters_of(Digits v) {
  const Digits small = (v > 25) & ('a' - 'Z' - 1);
  const Digits numbers = (v > 51) & ('0' - 'z' - 1);
  const Digits plus = (v > 61) & ('+' - '9' - 1);
  const Digits slash = (v > 62) & ('/' - '+' - 1);
  return v + 'A' + small + numbers + plus + slash;
}

/// Encodes 48 bytes as 64 characters.
void encode_line(std::uint8_t* out, const std::uint8_t* bytes) {
  for (std::size_t i = 0; i < kCharactersPerLine / 8; ++i)
    split_digits(out + 8 * i, bytes + 6 * i);
  for (std::size_t i = 0; i < kCharactersPerLine; i += sizeof(Digits)) {
    Digits digits;
    std::memcpy(&digits, out + i, sizeof digits);
    digits = characters_of(digits);
    std::memcpy(out + i, &digits, sizeof digits);
  }
}

}  // namespace

std::size_t base64_bytes(std::size_t bytes) {
  return (bytes + 2) / 3 * 4 + (bytes + kBytesPerLine - 1) / kBytesPerLine;
}

std::uint8_t* write_base64(std::uint8_t* out, ByteView bytes) {
  const std::size_t rest = bytes.size() % kBytesPerLine;
  const std::uint8_t* in = bytes.data();
  for (const std::uint8_t* end = in + (bytes.size() - rest); in != end; in += kBytesPerLine) {
    encode_line(out, in);
    out[kCharactersPerLine] = '\n';
    out += kCharactersPerLine + 1;
  }
  if (rest == 0) return out;
  SecretBytes line(kBytesPerLine + kCharactersPerLine);
  std::memcpy(line.data(), in, rest);
  encode_line(line.data() + kBytesPerLine, line.data());
  const std::size_t characters = (rest + 2) / 3 * 4, padding = (3 - rest % 3) % 3;
  std::memcpy(out, line.data() + kBytesPerLine, characters);
  std::memset(out + characters - padding, '=', padding);
  out[characters] = '\n';
  return out + characters + 1;
}

void append_base64(SecretBytes& out, ByteView bytes) {
  const std::size_t before = out.size();
  out.resize(before + base64_bytes(bytes.size()));
  write_base64(out.data() + before, bytes);
}

void Base64Decoder::line(std::string_view text) {
  // Four characters make at most three bytes.
  if (bytes_.size() + text.size() > kMaxBytes) throw FormatError("the block is longer than any key or ciphertext");
  for (const char c : text) {
    if (style_ == Style::kLenient && (c == ' ' || c == '\t' || c == '\r')) continue;
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
    if (style_ == Style::kStrict && (word_ & ((1U << (8 * (3 - bytes))) - 1U)) != 0) {
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
