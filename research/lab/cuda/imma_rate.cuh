// SPDX-License-Identifier: Apache-2.0
// Measures the highest rate of products of bytes on tensor cores.
#pragma once

#include "prim/polymul/cuda/tensor_core.cuh"

namespace polykem::lab {

inline constexpr int kRateThreads = 256, kRateIterations = 2048, kRateChains = 8;
/// Multiply-adds of bytes per thread.
inline constexpr double kImmaRateProducts = double{kRateIterations} * kRateChains / 32 * 4096;

static __global__ void __launch_bounds__(kRateThreads) imma_rate(int* out, uint32_t seed) {
  int sum[kRateChains][4] = {};
  const uint32_t x = seed * (threadIdx.x + 1) * 0x9e3779b9u;
  const uint32_t p[4] = {x, x ^ 0x5a5a5a5a, x + 1, x + 2};
  const uint32_t r[2] = {x * 3, x * 5};
  for (int i = 0; i < kRateIterations; ++i) {
#pragma unroll
    for (int k = 0; k < kRateChains; ++k)
      cuda::mma_16x8x32<true>(sum[k], p, r);
  }
  int total = 0;
  for (int k = 0; k < kRateChains; ++k)
    total += sum[k][0] ^ sum[k][1] ^ sum[k][2] ^ sum[k][3];
  out[blockIdx.x * kRateThreads + threadIdx.x] = total;
}

}  // namespace polykem::lab
