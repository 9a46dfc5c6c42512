// SPDX-License-Identifier: Apache-2.0
#include "ceilings.cuh"

#include "common.cuh"
#include "prim/polymul/cuda/imma.cuh"

namespace polykem::bench {

namespace {

constexpr int kThreads = 256;
constexpr int kIterations = 2048;
constexpr int kChains = 8;

__global__ void __launch_bounds__(kThreads) imma_rate(int* out, uint32_t seed) {
  int sum[kChains][4] = {};
  const uint32_t x = seed * (threadIdx.x + 1) * 0x9e3779b9u;
  const uint32_t p[4] = {x, x ^ 0x5a5a5a5a, x + 1, x + 2};
  const uint32_t r[2] = {x * 3, x * 5};
  for (int i = 0; i < kIterations; ++i) {
#pragma unroll
    for (int k = 0; k < kChains; ++k)
      cuda::mma_16x8x32<true>(sum[k], p, r);
  }
  int total = 0;
  for (int k = 0; k < kChains; ++k)
    total += sum[k][0] ^ sum[k][1] ^ sum[k][2] ^ sum[k][3];
  out[blockIdx.x * kThreads + threadIdx.x] = total;
}

__global__ void __launch_bounds__(kThreads) dp4a_rate(int* out, int seed) {
  int sum[kChains] = {};
  int x = seed * (threadIdx.x + 1);
  for (int i = 0; i < kIterations; ++i) {
#pragma unroll
    for (int k = 0; k < kChains; ++k)
      sum[k] = __dp4a(x + i, x, sum[k]);
  }
  for (int k = 1; k < kChains; ++k)
    sum[0] ^= sum[k];
  out[blockIdx.x * kThreads + threadIdx.x] = sum[0];
}

__global__ void __launch_bounds__(kThreads) imad_rate(int* out, int seed) {
  int sum[kChains] = {};
  const int x = seed * (threadIdx.x + 1);
  for (int i = 0; i < kIterations; ++i) {
#pragma unroll
    for (int k = 0; k < kChains; ++k)
      sum[k] = sum[k] * x + k;
  }
  for (int k = 1; k < kChains; ++k)
    sum[0] ^= sum[k];
  out[blockIdx.x * kThreads + threadIdx.x] = sum[0];
}

}  // namespace

Ceilings measure_ceilings() {
  cudaDeviceProp device;
  check(cudaGetDeviceProperties(&device, 0), "cudaGetDeviceProperties");
  const int blocks = device.multiProcessorCount * 8;
  const double steps = double{kIterations} * kChains * blocks;
  DeviceArray<int> out(static_cast<size_t>(blocks) * kThreads);
  Ceilings rates;
  rates.imma =
      steps * (kThreads / 32) * 4096 / median_seconds(4, [&] { imma_rate<<<blocks, kThreads>>>(out.data, 7); });
  rates.dp4a = steps * kThreads * 4 / median_seconds(4, [&] { dp4a_rate<<<blocks, kThreads>>>(out.data, 7); });
  rates.imad = steps * kThreads / median_seconds(4, [&] { imad_rate<<<blocks, kThreads>>>(out.data, 7); });
  constexpr size_t kBytes = size_t{1} << 30;
  DeviceArray<char> source(kBytes);
  DeviceArray<char> target(kBytes);
  check(cudaMemset(source.data, 0x5a, kBytes), "cudaMemset");
  rates.bandwidth = 2.0 * kBytes / median_seconds(4, [&] {
                      cudaMemcpyAsync(target.data, source.data, kBytes, cudaMemcpyDeviceToDevice);
                    });
  return rates;
}

}  // namespace polykem::bench
