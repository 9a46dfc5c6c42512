// SPDX-License-Identifier: Apache-2.0
// The coding of the message in coefficients. [FRODO21, Algorithms 1 and 2]
#pragma once

#include "schemes/frodo/params.hpp"

namespace polykem::frodo {

/// Converts between mu and coefficients. Coefficient `index` of Encode has the next B bits of mu, the lowest first.
/// [FRODO21, Alg 1]
struct MessageBits {
  const Set& set;
  unsigned bits() const { return set.p.bits; }
  unsigned shift() const { return set.p.logq - set.p.bits; }

  uint16_t encoded(const uint8_t* mu, size_t index) const {
    const size_t bit = index * bits(), byte = bit / 8, offset = bit % 8;
    unsigned value = mu[byte] >> offset;
    if (offset + bits() > 8) value |= static_cast<unsigned>(mu[byte + 1]) << (8 - offset);
    return static_cast<uint16_t>((value & ((1u << bits()) - 1)) << shift());
  }

  /// Sets in mu the bits that coefficient c encodes: c 2^B / q, rounded. [FRODO21, Alg 2]
  void decode(uint8_t* mu, size_t index, uint16_t c) const {
    const unsigned value = (c + (1u << (shift() - 1))) >> shift() & ((1u << bits()) - 1);
    const size_t bit = index * bits(), byte = bit / 8, offset = bit % 8;
    mu[byte] = static_cast<uint8_t>(mu[byte] | value << offset);
    if (offset + bits() > 8) mu[byte + 1] = static_cast<uint8_t>(mu[byte + 1] | value >> (8 - offset));
  }
};

}  // namespace polykem::frodo
