// SPDX-License-Identifier: Apache-2.0
// Transposes of 32 x 32 bits, between words of 32 items and planes, which are words with one bit of each item.
#pragma once

#include <cstdint>

namespace polykem::cuda {

/// For all i without bit kStep, swaps those columns of x[i] whose number has bit kStep with those columns of x[i +
/// kStep] whose number lacks it. `low` is the mask of the columns whose number lacks it.
template <int kStep>
__device__ __forceinline__ void swap_bit_blocks(uint32_t (&x)[32], uint32_t low) {
#pragma unroll
  for (int i = 0; i < 32; ++i) {
    if ((i & kStep) != 0) continue;
    const uint32_t a = x[i], b = x[i + kStep];
    if constexpr (kStep == 16) {
      x[i] = __byte_perm(a, b, 0x5410);
      x[i + kStep] = __byte_perm(a, b, 0x7632);
    } else if constexpr (kStep == 8) {
      x[i] = __byte_perm(a, b, 0x6240);
      x[i + kStep] = __byte_perm(a, b, 0x7351);
    } else {
      x[i] = (a & low) | ((b << kStep) & ~low);
      x[i + kStep] = ((a >> kStep) & low) | (b & ~low);
    }
  }
}

/// Transposes 32 words of one thread: bit j of x[i] becomes bit i of x[j].
__device__ __forceinline__ void transpose_words(uint32_t (&x)[32]) {
  swap_bit_blocks<16>(x, 0x0000ffff);
  swap_bit_blocks<8>(x, 0x00ff00ff);
  swap_bit_blocks<4>(x, 0x0f0f0f0f);
  swap_bit_blocks<2>(x, 0x33333333);
  swap_bit_blocks<1>(x, 0x55555555);
}

/// Transposes one word of each lane: bit j of lane i's word becomes bit i of lane j's. All 32 lanes call it together.
__device__ __forceinline__ uint32_t transpose_warp(uint32_t x, unsigned lane) {
  constexpr uint32_t kLow[5] = {0x55555555, 0x33333333, 0x0f0f0f0f, 0x00ff00ff, 0x0000ffff};
#pragma unroll
  for (int k = 4; k >= 0; --k) {
    const unsigned step = 1u << k;
    const bool upper = (lane & step) != 0;
    const uint32_t other = __shfl_xor_sync(0xffffffff, x, step);
    const uint32_t kept = upper ? ~kLow[k] : kLow[k];
    x = (x & kept) | (__funnelshift_l(other, other, upper ? 32 - step : step) & ~kept);
  }
  return x;
}

}  // namespace polykem::cuda
