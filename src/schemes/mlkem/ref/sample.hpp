// SPDX-License-Identifier: Apache-2.0
// Samples one polynomial: a uniform one by rejection, which is public, or a centred binomial one in constant time.
#pragma once

#include <cstring>

#include "ct/ct.hpp"
#include "prim/keccak/keccak.hpp"
#include "prim/ntt/ntt.hpp"
#include "schemes/mlkem/types.hpp"

namespace polykem::mlkem::ref {
inline namespace POLYKEM_ISA {

/// Samples a uniform transform: the 12-bit integers of SHAKE128(rho, first, second) that are below q. [FIPS203, Alg 7]
inline void sample_ntt(Poly& a, const uint8_t* rho, size_t first, size_t second) {
  const uint8_t position[2] = {static_cast<uint8_t>(first), static_cast<uint8_t>(second)};
  Shake xof(Shake::Strength::kShake128);
  xof.absorb({rho, kSymBytes});
  xof.absorb(position);
  uint16_t accepted[kN + 1];  // the last word may be one too many
  for (size_t filled = 0; filled < kN;) {
    uint8_t block[static_cast<size_t>(Shake::Strength::kShake128)];
    xof.squeeze(block);
    for (size_t i = 0; i < sizeof block && filled < kN; i += 3) {
      const uint32_t bits = block[i] | uint32_t{block[i + 1]} << 8 | uint32_t{block[i + 2]} << 16;
      const uint32_t low = bits & 0xfff, high = bits >> 12;
      accepted[filled] = static_cast<uint16_t>(low);
      filled += low < kQ;
      accepted[filled] = static_cast<uint16_t>(high);
      filled += high < kQ;
    }
  }
  std::memcpy(a.c, accepted, sizeof a.c);
}

/// Samples a polynomial from the 64 kEta bytes of `in`: coefficient i is the sum of kEta bits minus the sum of the next
/// kEta bits, mod q. [FIPS203, Alg 8]
template <unsigned kEta>
void sample_poly_cbd(Poly& a, const uint8_t* in) {
  // The number of bytes that are read, and of coefficients that are sampled from them, at a time.
  constexpr unsigned kBytes = kEta == 2 ? 4 : 3, kCount = 8 * kBytes / (2 * kEta);
  constexpr uint32_t kEvery = kEta == 2 ? 0x55555555u : 0x249249u;  // every kEta-th bit
  constexpr uint32_t kField = (1u << kEta) - 1;
  for (size_t i = 0; i < kN / kCount; ++i) {
    uint32_t bits = 0;
    for (unsigned j = 0; j < kBytes; ++j)
      bits |= uint32_t{in[i * kBytes + j]} << (8 * j);
    uint32_t sums = 0;  // sums of kEta neighbouring bits, side by side
    for (unsigned j = 0; j < kEta; ++j)
      sums += bits >> j & kEvery;
    for (unsigned j = 0; j < kCount; ++j) {
      const uint32_t plus = sums >> (2 * kEta * j) & kField, minus = sums >> (2 * kEta * j + kEta) & kField;
      a.c[i * kCount + j] = static_cast<uint16_t>(ntt::reduce_once(plus + kQ - minus));
    }
  }
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::mlkem::ref
