// SPDX-License-Identifier: Apache-2.0
#include "formats/der.hpp"

#include <string>

#include "formats/error.hpp"

namespace polykem::formats {
namespace {

constexpr std::size_t kMaxLengthBytes = 4;
constexpr std::uint8_t kLongForm = 0x80;

ByteView after(ByteView bytes, std::size_t n) {
  return {bytes.data() + n, bytes.size() - n};
}

[[noreturn]] void fail(const char* name, const char* what) {
  throw FormatError(std::string("the DER encoding is malformed: ") + name + ' ' + what);
}

}  // namespace

std::optional<DerHeader> der_header(ByteView bytes) {
  if (bytes.size() < 2) return std::nullopt;
  const std::uint8_t* in = bytes.data();
  if (in[1] < kLongForm) return DerHeader{in[0], 2, in[1]};
  const std::size_t digits = in[1] & 0x7FU;  // 0: the indefinite form
  if (digits == 0 || digits > kMaxLengthBytes || bytes.size() < 2 + digits) return std::nullopt;
  std::size_t length = 0;
  for (std::size_t i = 0; i < digits; ++i)
    length = (length << 8) | in[2 + i];
  const bool shortest = in[2] != 0 && length >= kLongForm;
  if (!shortest) return std::nullopt;
  return DerHeader{in[0], 2 + digits, length};
}

void append_der(SecretBytes& out, std::uint8_t tag, std::initializer_list<ByteView> parts) {
  std::size_t length = 0;
  for (const ByteView part : parts)
    length += part.size();
  out.reserve(out.size() + 2 + kMaxLengthBytes + length);
  out.push_back(tag);
  std::size_t digits = 0;
  while (digits < kMaxLengthBytes && length >> (8 * digits) != 0)
    ++digits;
  if (length >= kLongForm) out.push_back(static_cast<std::uint8_t>(kLongForm | digits));
  if (length < kLongForm) digits = 1;
  for (std::size_t i = digits; i-- > 0;)
    out.push_back(static_cast<std::uint8_t>(length >> (8 * i)));
  for (const ByteView part : parts)
    out.insert(out.end(), part.data(), part.data() + part.size());
}

ByteView DerReader::take(std::uint8_t tag, const char* name) {
  if (empty()) fail(name, "is missing");
  if (!next_is(tag)) fail(name, "is missing or has another tag");
  const std::optional<DerHeader> header = der_header(rest_);
  if (!header) fail(name, "has a length that DER does not allow");
  rest_ = after(rest_, header->header_bytes);
  if (header->content_bytes > rest_.size()) fail(name, "is cut off");
  const ByteView contents(rest_.data(), header->content_bytes);
  rest_ = after(rest_, header->content_bytes);
  return contents;
}

void DerReader::finish(const char* name) const {
  if (!empty()) fail(name, "goes on after its end");
}

}  // namespace polykem::formats
