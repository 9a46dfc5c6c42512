// SPDX-License-Identifier: Apache-2.0
// Device code that all multipliers share, those of research/lab too.
#pragma once

#include "prim/cuda/launch.hpp"
#include "prim/polymul/cuda/polymul_cuda.hpp"

namespace polykem::cuda {

inline constexpr unsigned kWarp = 32;
inline constexpr unsigned kAllLanes = 0xffffffffu;

/// poly_stride(N) as a constant for device code.
template <int N>
inline constexpr int kPolyStride = static_cast<int>(poly_stride(N));

/// Returns x modulo 3, for x below 2^16. (check-magic: 43691 == ceil(2^17 / 3))
__device__ __forceinline__ uint32_t mod3(uint32_t x) {
  return x - 3 * ((x * 43691u) >> 17);
}

/// Returns x modulo 3, for x below 2^31. (check-magic: 0x55555556 == (2^32 + 2) / 3)
__device__ __forceinline__ uint32_t mod3_wide(uint32_t x) {
  return x - 3 * __umulhi(x, 0x55555556u);
}

/// Calls f with the degree n as a compile-time constant; returns cudaErrorInvalidValue if no set has that degree.
template <class F>
cudaError_t with_degree(size_t n, F&& f) {
  switch (n) {
    case 509:
      return f.template operator()<509>();
    case 677:
      return f.template operator()<677>();
    case 701:
      return f.template operator()<701>();
    case 821:
      return f.template operator()<821>();
    case 1229:
      return f.template operator()<1229>();
    case 1373:
      return f.template operator()<1373>();
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace polykem::cuda
