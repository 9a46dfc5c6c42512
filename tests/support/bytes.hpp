// SPDX-License-Identifier: Apache-2.0
// Bytes for tests: pseudorandom ones, the same in every run, and those of hexadecimal digits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace polykem::test {

using Bytes = std::vector<uint8_t>;

/// A generator (xorshift64*); not for keys.
class Noise {
 public:
  explicit Noise(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}

  uint64_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545f4914f6cdd1du;
  }
  void fill(std::span<uint8_t> out) {
    for (uint8_t& byte : out)
      byte = static_cast<uint8_t>(next() >> 56);
  }
  Bytes bytes(size_t count) {
    Bytes out(count);
    fill(out);
    return out;
  }

 private:
  uint64_t state_;
};

inline Bytes pattern(size_t size, uint64_t seed) {
  return Noise(seed).bytes(size);
}

inline Bytes from_hex(const std::string& hex) {
  Bytes bytes(hex.size() / 2);
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<uint8_t>(std::stoi(hex.substr(2 * i, 2), nullptr, 16));
  return bytes;
}

}  // namespace polykem::test
