// SPDX-License-Identifier: Apache-2.0
#include "formats/pem.hpp"

#include <cstring>

#include "formats/error.hpp"

namespace polykem::formats {
namespace {

constexpr std::string_view kBegin = "-----BEGIN ";
constexpr std::string_view kEnd = "-----END ";
constexpr std::string_view kDashes = "-----";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::size_t kLineCharacters = 64;
constexpr const char* kHasTextBefore = " has text or blanks before it";

std::uint8_t* write_text(std::uint8_t* out, std::string_view text) {
  std::memcpy(out, text.data(), text.size());
  return out + text.size();
}

std::uint8_t* write_boundary(std::uint8_t* out, std::string_view prefix, std::string_view label) {
  out = write_text(write_text(write_text(out, prefix), label), kDashes);
  *out = '\n';
  return out + 1;
}

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

/// The text between `prefix` and the closing dashes; nothing if `line` has another form.
std::string_view between(std::string_view line, std::string_view prefix) {
  if (line.size() < prefix.size() + kDashes.size() || !starts_with(line, prefix)) return {};
  if (line.substr(line.size() - kDashes.size()) != kDashes) return {};
  return line.substr(prefix.size(), line.size() - prefix.size() - kDashes.size());
}

/// The line without trailing blanks, which for OpenSSL include control characters and non-ASCII bytes.
std::string_view trimmed(std::string_view line, PemReader::Style style) {
  const auto blank = [style](char c) {
    return style == PemReader::Style::kStrict ? c == '\r' || c == ' ' || c == '\t' : static_cast<signed char>(c) <= ' ';
  };
  while (!line.empty() && blank(line.back()))
    line.remove_suffix(1);
  return line;
}

std::string_view without_byte_order_mark(std::string_view text) {
  if (starts_with(text, kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  return text;
}

}  // namespace

std::size_t pem_bytes(std::string_view label, std::size_t bytes) {
  return kBegin.size() + kEnd.size() + 2 * (label.size() + kDashes.size() + 1) + base64_bytes(bytes);
}

std::uint8_t* write_pem(std::uint8_t* out, std::string_view label, ByteView bytes) {
  return write_boundary(write_base64(write_boundary(out, kBegin, label), bytes), kEnd, label);
}

void append_pem(SecretBytes& out, std::string_view label, ByteView bytes) {
  const std::size_t before = out.size();
  out.resize(before + pem_bytes(label, bytes.size()));
  write_pem(out.data() + before, label, bytes);
}

std::string_view first_label(ByteView text) {
  std::string_view rest(reinterpret_cast<const char*>(text.data()), text.size());
  rest = without_byte_order_mark(rest);
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    const std::string_view label = between(trimmed(rest.substr(0, end), PemReader::Style::kLenient), kBegin);
    if (!label.empty()) return label;
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  return {};
}

PemReader::Event PemReader::line(std::string_view text) {
  ++number_;
  if (at_beginning_) text = without_byte_order_mark(text);
  at_beginning_ = false;
  text = trimmed(text, style_);
  try {
    return open_ ? inside(text) : outside(text);
  } catch (const FormatError& e) {
    throw FormatError("line " + std::to_string(number_) + ": " + e.what(), e.hint());
  }
}

PemReader::Event PemReader::outside(std::string_view text) {
  const std::string_view label = between(text, kBegin);
  if (!label.empty()) {
    label_ = label;
    const bool strict = style_ == Style::kStrict;
    decoder_ = Base64Decoder(strict ? Base64Decoder::Style::kStrict : Base64Decoder::Style::kLenient);
    bytes_.clear();
    open_ = true;
    passed_over_ = empty_line_ = short_line_ = false;
    lines_ = 0;
    return Event::kBegin;
  }
  // An error, because the owner of many keys wants to know of a damaged one. OpenSSL would take it for text.
  if (starts_with(text, kBegin)) throw FormatError("the BEGIN line is damaged");
  if (starts_with(text, kEnd)) {
    throw FormatError("an END line without a BEGIN line" +
                      (misplaced_ == 0 ? "" : "; that on line " + std::to_string(misplaced_) + kHasTextBefore));
  }
  if (!text.empty() && style_ == Style::kStrict) throw FormatError("text outside of a block");
  if (misplaced_ == 0 && text.find(kBegin) != std::string_view::npos) misplaced_ = number_;
  return Event::kNone;
}

PemReader::Event PemReader::inside(std::string_view text) {
  if (starts_with(text, kBegin)) throw FormatError("a BEGIN line inside a block; the block before it is cut off");
  if (!starts_with(text, kEnd)) {
    if (!passed_over_) body(text);
    return Event::kNone;
  }
  if (between(text, kEnd) != label_) throw FormatError("the END line does not fit the BEGIN line");
  if (!passed_over_) bytes_ = decoder_.finish();
  open_ = false;
  at_beginning_ = true;
  return Event::kEnd;
}

void PemReader::body(std::string_view text) {
  if (style_ == Style::kLenient) {
    // An empty line ends the headers of old encrypted keys [RFC1421], so OpenSSL takes the lines before it for headers.
    if (text.find(':') != std::string_view::npos)
      throw FormatError("a header inside the block, as keys have that are encrypted in a way older than PKCS #8");
    if (text.empty() && (lines_ > 0 || empty_line_)) throw FormatError("an empty line inside the block");
    empty_line_ = empty_line_ || text.empty();
    if (empty_line_ && (short_line_ || text.size() > kLineCharacters))
      throw FormatError("after an empty line at the beginning of a block, all lines but the last have 64 characters");
    short_line_ = empty_line_ && !text.empty() && text.size() < kLineCharacters;
  }
  if (!text.empty()) ++lines_;
  decoder_.line(text);
}

void PemReader::finish() const {
  if (!open_) return;
  throw FormatError("line " + std::to_string(number_) + ": the file ends inside a block; it is cut off");
}

void PemReader::finish_without_block() const {
  if (misplaced_ == 0) return;
  throw FormatError("line " + std::to_string(misplaced_) + ": the BEGIN line" + kHasTextBefore);
}

}  // namespace polykem::formats
