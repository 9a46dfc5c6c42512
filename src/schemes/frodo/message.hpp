// SPDX-License-Identifier: Apache-2.0
// How coefficients carry the message. [FRODO21, Algorithms 1 and 2]
#pragma once

#include "schemes/frodo/params.hpp"

namespace polykem::frodo {

/// The bits of mu that coefficient `index` of Encode reads, the lowest first. [FRODO21, Alg 1]
struct MessageBits {
  const Set& set;
  unsigned bits() const { return set.p.bits; }
  unsigned shift() const { return set.p.logq - set.p.bits; }

  uint16_t encoded(const uint8_t* mu, size_t index) const {
    unsigned value = 0;
    for (unsigned k = 0; k < bits(); ++k) {
      const size_t bit = index * bits() + k;
      value |= (mu[bit / 8] >> (bit % 8) & 1u) << k;
    }
    return static_cast<uint16_t>(value << shift());
  }

  /// mu |= the bits that coefficient c encodes: c 2^B / q, rounded. [FRODO21, Alg 2]
  void decode(uint8_t* mu, size_t index, uint16_t c) const {
    const unsigned value = (c + (1u << (shift() - 1))) >> shift();
    for (unsigned k = 0; k < bits(); ++k) {
      const size_t bit = index * bits() + k;
      mu[bit / 8] = static_cast<uint8_t>(mu[bit / 8] | (value >> k & 1u) << (bit % 8));
    }
  }
};

}  // namespace polykem::frodo
