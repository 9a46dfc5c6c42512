// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "prim/ntt/bounds.hpp"
#include "prim/simd/vec16.hpp"

namespace polykem::ntt {
inline namespace POLYKEM_ISA {

using simd::V16;

/// Returns the representative of x in (-q/2, q/2) as a 16-bit word.
constexpr uint16_t centred(uint32_t x) {
  x %= kQ;
  return static_cast<uint16_t>(x > kQ / 2 ? x - kQ : x);
}

inline constexpr uint32_t kR = (1u << 16) % kQ;  ///< 2^16 mod q
inline constexpr uint32_t kInverseR = 169;
static_assert(kR * kInverseR % kQ == 1);
inline constexpr uint16_t kQInverse = 62209;  ///< 1/q mod 2^16
static_assert((kQInverse * kQ & 0xffff) == 1);

/// The bytes of a polynomial with kBits bits for each coefficient.
template <unsigned kBits>
inline constexpr size_t kPackedBytes = kN / 8 * kBits;

/// True if 16 bytes from coefficient i on, a multiple of eight, are inside the packed polynomial.
template <unsigned kBits>
constexpr bool sixteen_bytes_inside(size_t i) {
  return i / 8 * kBits + 16 <= kPackedBytes<kBits>;
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::ntt
