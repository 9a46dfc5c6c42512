// SPDX-License-Identifier: Apache-2.0
// Arithmetic modulo one prime below 2^30 for transforms of 32-bit words, with lazy reduction: values are in [0, 4p) or
// [0, 2p). [HARVEY14]
#pragma once

#include <cstdint>

namespace polykem::lab {

inline constexpr uint32_t kPrime = 998244353, kPrimeRoot = 3;  ///< 119 * 2^23 + 1

/// A factor and floor(factor 2^32 / p).
struct Factor {
  uint32_t value, quotient;
};

__device__ __forceinline__ uint32_t reduced_once(uint32_t x, uint32_t bound) {
  return min(x, x - bound);
}

/// Returns x w mod p in [0, 2p), for any x.
__device__ __forceinline__ uint32_t times(uint32_t x, Factor w) {
  return x * w.value - __umulhi(x, w.quotient) * kPrime;
}

/// Computes a butterfly; x and y are in [0, 4p) before and after.
__device__ __forceinline__ void forward_butterfly(uint32_t& x, uint32_t& y, Factor w) {
  const uint32_t low = reduced_once(x, 2 * kPrime), t = times(y, w);
  x = low + t;
  y = low - t + 2 * kPrime;
}

/// Computes an inverse butterfly; x and y are in [0, 2p) before and after.
__device__ __forceinline__ void inverse_butterfly(uint32_t& x, uint32_t& y, Factor w) {
  const uint32_t difference = x - y + 2 * kPrime;
  x = reduced_once(x + y, 2 * kPrime);
  y = times(difference, w);
}

}  // namespace polykem::lab
