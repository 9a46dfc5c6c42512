// SPDX-License-Identifier: Apache-2.0
#include "tls/server_hello.hpp"

#include <algorithm>
#include <array>

namespace polykem::cli {
namespace {

constexpr std::uint8_t kServerHello = 2;
constexpr unsigned kKeyShare = 51;
constexpr std::size_t kRandomBytes = 32;
// SHA-256 of "HelloRetryRequest" [RFC8446, 4.1.3].
constexpr std::array<std::uint8_t, kRandomBytes> kRetryRandom = {
    0xCF, 0x21, 0xAD, 0x74, 0xE5, 0x9A, 0x61, 0x11, 0xBE, 0x1D, 0x8C, 0x02, 0x1E, 0x65, 0xB8, 0x91,
    0xC2, 0xA2, 0x11, 0x16, 0x7A, 0xBB, 0x8C, 0x5E, 0x07, 0x9E, 0x09, 0xE2, 0xC8, 0xA8, 0x33, 0x9C};

/// Takes bytes from the front. Becomes empty if there are too few.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  bool failed() const { return failed_; }
  bool empty() const { return bytes_.empty(); }

  std::span<const std::uint8_t> take(std::size_t count) {
    failed_ = failed_ || count > bytes_.size();
    if (failed_) return bytes_ = {};
    const auto out = bytes_.first(count);
    bytes_ = bytes_.subspan(count);
    return out;
  }
  unsigned number(std::size_t count) {
    unsigned out = 0;
    for (const std::uint8_t byte : take(count))
      out = out << 8U | byte;
    return out;
  }

 private:
  std::span<const std::uint8_t> bytes_;
  bool failed_ = false;
};

}  // namespace

bool read_server_hello(std::span<const std::uint8_t> message, ServerHello& out) {
  ByteReader all(message);
  if (all.number(1) != kServerHello) return false;
  ByteReader body(all.take(all.number(3)));
  body.take(2);  // the version of TLS 1.2
  const auto random = body.take(kRandomBytes);
  body.take(body.number(1));  // session id
  body.take(3);               // cipher suite, compression
  out = {};
  out.is_retry = std::equal(random.begin(), random.end(), kRetryRandom.begin(), kRetryRandom.end());
  if (body.failed()) return false;
  if (body.empty()) return true;  // TLS 1.2 without extensions
  ByteReader extensions(body.take(body.number(2)));
  while (!extensions.empty()) {
    const unsigned type = extensions.number(2);
    ByteReader data(extensions.take(extensions.number(2)));
    if (type == kKeyShare) out.group = data.number(2);
  }
  return !body.failed() && !extensions.failed();
}

}  // namespace polykem::cli
