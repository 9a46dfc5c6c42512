// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>

#include "core/isa.hpp"
#include "core/secure.hpp"
#include "prim/aes/aes256_ctr.hpp"
#include "schemes/lac/params.hpp"

namespace polykem::lac {
inline namespace POLYKEM_ISA {

/// Computes PRG(seed): `length` bytes of AES-256 in counter mode, from counter 0. misplaces_tail: does as the
/// second round's code does for a length of 16 a + b, 0 < b < 16: the last b bytes stay zero, and the first b bytes of
/// keystream block a overwrite the output from byte a - 1 on.
inline void prg(uint8_t* out, size_t length, const uint8_t seed[kSeedBytes], bool misplaces_tail, Aes256Ctr keystream) {
  const size_t rest = length % kAesBlockBytes, blocks = length / kAesBlockBytes;
  keystream(out, length, seed, 0, 0);
  if (!misplaces_tail || rest == 0) return;
  uint8_t last[kAesBlockBytes];
  std::memcpy(last, out + blocks * kAesBlockBytes, rest);
  std::memset(out + blocks * kAesBlockBytes, 0, rest);
  std::memcpy(out + blocks - 1, last, rest);
  zeroize(last, sizeof last);
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::lac
