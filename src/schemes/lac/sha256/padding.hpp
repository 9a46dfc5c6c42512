// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>

#include "core/isa.hpp"
#include "schemes/lac/sha256/sha256.hpp"

namespace polykem::sha256 {
inline namespace POLYKEM_ISA {

/// The blocks of a message of `length` bytes. [FIPS180, 5.1.1]
struct Blocks {
  explicit Blocks(size_t length)
      : whole(length / kSha256BlockBytes),
        rest(length % kSha256BlockBytes),
        padded(rest + 9 <= kSha256BlockBytes ? 1 : 2),
        bits(uint64_t{length} * 8) {}

  size_t whole;   ///< blocks of the message alone
  size_t rest;    ///< bytes of the message in the padded blocks
  size_t padded;  ///< padded blocks: one or two
  uint64_t bits;

  /// Writes the padded blocks of a message that starts at `message`.
  void pad(uint8_t out[2 * kSha256BlockBytes], const uint8_t* message) const {
    std::memset(out, 0, 2 * kSha256BlockBytes);
    if (rest > 0) std::memcpy(out, message + whole * kSha256BlockBytes, rest);
    out[rest] = 0x80;
    uint8_t* end = out + padded * kSha256BlockBytes;
    for (unsigned i = 0; i < 8; ++i)
      end[-1 - static_cast<int>(i)] = static_cast<uint8_t>(bits >> (8 * i));
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::sha256
