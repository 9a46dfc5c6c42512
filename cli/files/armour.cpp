// SPDX-License-Identifier: Apache-2.0
#include "files/armour.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>

#include "common/exit_codes.hpp"

namespace polykem::cli {
namespace {

constexpr std::string_view kBegin = "-----BEGIN ";
constexpr std::string_view kEnd = "-----END ";
constexpr std::string_view kDashes = "-----";
constexpr std::size_t kBytesPerLine = 48;

constexpr std::array<std::pair<RecordKind, std::string_view>, 4> kLabels = {{
    {RecordKind::kPublicKey, "PUBLIC KEY"},
    {RecordKind::kSecretKey, "SECRET KEY"},
    {RecordKind::kCiphertext, "CIPHERTEXT"},
    {RecordKind::kSharedSecret, "SHARED SECRET"},
}};

std::string_view label_of(RecordKind kind) {
  for (const auto& [k, label] : kLabels) {
    if (k == kind) return label;
  }
  return {};
}

[[noreturn]] void fail(std::size_t line, const std::string& what) {
  throw CliError(kExitBadInput, fmt::format("line {}: {}", line, what));
}

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

void append_text(SecretBytes& out, std::string_view text) {
  out.insert(out.end(), text.begin(), text.end());
}

/** Splits "ntruhps4096821 PUBLIC KEY" into a block's set and kind. */
ArmouredRecord parse_title(std::string_view title, std::size_t line) {
  const std::size_t space = title.find(' ');
  if (space != std::string_view::npos && space > 0) {
    for (const auto& [kind, label] : kLabels) {
      if (title.substr(space + 1) == label) return {printable(title.substr(0, space)), kind, {}};
    }
  }
  fail(line, fmt::format("'{}' is not the title of a polykem block", printable(title)));
}

/** The text between `prefix` and the closing dashes, or nothing if `line` is not such a line. */
std::string_view between(std::string_view line, std::string_view prefix) {
  if (line.size() < prefix.size() + kDashes.size() || line.substr(0, prefix.size()) != prefix) return {};
  if (line.substr(line.size() - kDashes.size()) != kDashes) return {};
  return line.substr(prefix.size(), line.size() - prefix.size() - kDashes.size());
}

}  // namespace

const char* kind_name(RecordKind kind) {
  switch (kind) {
    case RecordKind::kPublicKey:
      return "public key";
    case RecordKind::kSecretKey:
      return "secret key";
    case RecordKind::kCiphertext:
      return "ciphertext";
    case RecordKind::kSharedSecret:
      return "shared secret";
  }
  return "record";
}

std::size_t record_bytes(const Scheme& scheme, RecordKind kind) {
  switch (kind) {
    case RecordKind::kPublicKey:
      return scheme.public_key_bytes();
    case RecordKind::kSecretKey:
      return scheme.secret_key_bytes();
    case RecordKind::kCiphertext:
      return scheme.ciphertext_bytes();
    case RecordKind::kSharedSecret:
      break;
  }
  return scheme.shared_secret_bytes();
}

bool is_armour(ByteView text) {
  std::string_view view(reinterpret_cast<const char*>(text.data()), text.size());
  view.remove_prefix(std::min(view.find_first_not_of(" \t\r\n"), view.size()));
  return view.substr(0, kBegin.size()) == kBegin;
}

void append_armour(SecretBytes& out, const std::string& scheme, RecordKind kind, ByteView bytes) {
  const std::string_view label = label_of(kind);
  append_text(out, fmt::format("{}{} {}{}\n", kBegin, scheme, label, kDashes));
  for (std::size_t i = 0; i < bytes.size(); i += kBytesPerLine) {
    encode_line(out, bytes.data() + i, std::min(kBytesPerLine, bytes.size() - i));
  }
  append_text(out, fmt::format("{}{} {}{}\n", kEnd, scheme, label, kDashes));
}

void Base64Decoder::line(std::string_view text, std::size_t number) {
  // Four characters make at most three bytes.
  if (bytes_.size() + text.size() > kMostArmouredBytes) fail(number, "the block is longer than any key or ciphertext");
  for (const char c : text) {
    if (c == '=') {
      ++padding_;
      continue;
    }
    if (padding_ > 0) fail(number, "base64 goes on after its padding");
    const int value = decode_digit(static_cast<std::uint8_t>(c));
    bad_ |= value;
    word_ = (word_ << 6) | (static_cast<std::uint32_t>(value) & 63U);
    if (++digits_ == 4) flush(3);
  }
  if (bad_ < 0) fail(number, "a character that is not base64");
}

SecretBytes Base64Decoder::finish(std::size_t number) {
  if (digits_ == 1 || (digits_ == 0 && padding_ > 0) || (digits_ > 1 && digits_ + padding_ != 4)) {
    fail(number, "the base64 text is incomplete");
  }
  if (digits_ > 1) {
    const unsigned bytes = digits_ - 1;
    word_ <<= 6 * (4 - digits_);
    if ((word_ & ((1U << (8 * (3 - bytes))) - 1U)) != 0) fail(number, "the base64 text has stray bits at its end");
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

bool ArmourReader::line(std::string_view text) {
  ++number_;
  while (!text.empty() && (text.back() == '\r' || text.back() == ' ' || text.back() == '\t'))
    text.remove_suffix(1);
  if (title_.empty()) {
    if (text.empty()) return false;
    const std::string_view title = between(text, kBegin);
    if (title.empty()) fail(number_, "text outside of a block");
    block_ = parse_title(title, number_);
    title_ = title;
    decoder_ = {};
    return false;
  }
  if (text.substr(0, kEnd.size()) != kEnd) {
    decoder_.line(text, number_);
    return false;
  }
  if (between(text, kEnd) != title_) fail(number_, "the END line does not fit the BEGIN line");
  block_.bytes = decoder_.finish(number_);
  title_.clear();
  return true;
}

void ArmourReader::finish() const {
  if (!title_.empty()) fail(number_, "the file ends inside a block; it is cut off");
}

}  // namespace polykem::cli
