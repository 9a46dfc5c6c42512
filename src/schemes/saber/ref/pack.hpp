// SPDX-License-Identifier: Apache-2.0
// Converts polynomials to and from bytes, and samples secrets. No address depends on a coefficient.
#pragma once

#include <cstring>

#include "core/isa.hpp"
#include "schemes/saber/types.hpp"

namespace polykem::saber::ref {
inline namespace POLYKEM_ISA {

/// Unpacks coefficients of kBits bits from 32 kBits bytes, least significant bit first. [SABER20, BS2POLq, BS2POLp]
template <unsigned kBits>
void unpack(uint16_t* c, const uint8_t* in) {
  constexpr uint64_t kMask = (1u << kBits) - 1;
  for (size_t i = 0; i < kN; i += 8, in += kBits) {
    uint64_t low = 0, high = 0;  // the first eight bytes, the others
    for (size_t j = 0; j < kBits; ++j)
      (j < 8 ? low : high) |= uint64_t{in[j]} << (8 * (j % 8));
    for (unsigned j = 0; j < 8; ++j) {
      const unsigned at = j * kBits;
      uint64_t value = at < 64 ? low >> at : high >> (at - 64);
      if (at < 64 && at + kBits > 64) value |= high << (64 - at);
      c[i + j] = static_cast<uint16_t>(value & kMask);
    }
  }
}

/// Packs the lowest kBits bits of each coefficient into 32 kBits bytes. [SABER20, POLq2BS, POLp2BS]
template <unsigned kBits>
void pack(uint8_t* out, const uint16_t* c) {
  constexpr uint64_t kMask = (1u << kBits) - 1;
  for (size_t i = 0; i < kN; i += 8, out += kBits) {
    uint64_t low = 0, high = 0;
    for (unsigned j = 0; j < 8; ++j) {
      const uint64_t value = c[i + j] & kMask;
      const unsigned at = j * kBits;
      if (at < 64) low |= value << at;
      if (at >= 64) high |= value << (at - 64);
      if (at < 64 && at + kBits > 64) high |= value >> (64 - at);
    }
    for (size_t j = 0; j < kBits; ++j)
      out[j] = static_cast<uint8_t>((j < 8 ? low : high) >> (8 * (j % 8)));
  }
}

/// Samples a polynomial of the secret from the 32 kMu bytes of `in`: coefficient i is the sum of kMu / 2 bits minus the
/// sum of the next kMu / 2 bits, as a word mod 2^16. [SABER20, GenSecret]
template <unsigned kMu>
void sample_secret(Poly& s, const uint8_t* in) {
  constexpr unsigned kHalf = kMu / 2;
  constexpr uint32_t kField = (1u << kHalf) - 1, kLowest = 1 | 1u << kHalf;
  unpack<kMu>(s.c, in);
  for (uint16_t& c : s.c) {
    uint32_t sums = 0;  // sums of both halves, side by side
    for (unsigned j = 0; j < kHalf; ++j)
      sums += uint32_t{c} >> j & kLowest;
    c = static_cast<uint16_t>((sums & kField) - (sums >> kHalf));
  }
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::saber::ref
