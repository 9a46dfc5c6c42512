// SPDX-License-Identifier: Apache-2.0
#include "formats/pem.hpp"

#include "formats/error.hpp"

namespace polykem::formats {
namespace {

constexpr std::string_view kBegin = "-----BEGIN ";
constexpr std::string_view kEnd = "-----END ";
constexpr std::string_view kDashes = "-----";

void append_text(SecretBytes& out, std::string_view text) {
  out.insert(out.end(), text.begin(), text.end());
}

void append_boundary(SecretBytes& out, std::string_view prefix, std::string_view label) {
  append_text(out, prefix);
  append_text(out, label);
  append_text(out, kDashes);
  out.push_back('\n');
}

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

/** The text between `prefix` and the closing dashes, or nothing if `line` is not such a line. */
std::string_view between(std::string_view line, std::string_view prefix) {
  if (line.size() < prefix.size() + kDashes.size() || !starts_with(line, prefix)) return {};
  if (line.substr(line.size() - kDashes.size()) != kDashes) return {};
  return line.substr(prefix.size(), line.size() - prefix.size() - kDashes.size());
}

std::string_view without_blanks_at_end(std::string_view line) {
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ' || line.back() == '\t'))
    line.remove_suffix(1);
  return line;
}

}  // namespace

void append_pem(SecretBytes& out, std::string_view label, ByteView bytes) {
  append_boundary(out, kBegin, label);
  append_base64(out, bytes);
  append_boundary(out, kEnd, label);
}

std::string_view first_label(ByteView text) {
  std::string_view rest(reinterpret_cast<const char*>(text.data()), text.size());
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    const std::string_view label = between(without_blanks_at_end(rest.substr(0, end)), kBegin);
    if (!label.empty()) return label;
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  return {};
}

PemReader::Event PemReader::line(std::string_view text) {
  ++number_;
  text = without_blanks_at_end(text);
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
    decoder_ = {};
    bytes_.clear();
    open_ = true;
    return Event::kBegin;
  }
  // A damaged BEGIN or END line is no comment.
  const bool comment = outside_ == Outside::kSkipped && !starts_with(text, kDashes);
  if (!text.empty() && !comment) throw FormatError("text outside of a block");
  return Event::kNone;
}

PemReader::Event PemReader::inside(std::string_view text) {
  if (!starts_with(text, kEnd)) {
    decoder_.line(text);
    return Event::kNone;
  }
  if (between(text, kEnd) != label_) throw FormatError("the END line does not fit the BEGIN line");
  bytes_ = decoder_.finish();
  open_ = false;
  return Event::kEnd;
}

void PemReader::finish() const {
  if (!open_) return;
  throw FormatError("line " + std::to_string(number_) + ": the file ends inside a block; it is cut off");
}

}  // namespace polykem::formats
