// SPDX-License-Identifier: Apache-2.0
// What this card does at most, measured in the same run, so that floors mean something; and the module's entry.
#include <functional>

#include "kernel_job.cuh"
#include "ntt_prime.cuh"
#include "prim/polymul/cuda/imma.cuh"

namespace polykem::lab {

namespace {

constexpr int kThreads = 256, kIterations = 2048, kChains = 8;

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

/// Chains of x = step(x, i), folded.
template <class Step>
__device__ void run_chains(int* out, int seed, Step step) {
  int sum[kChains];
  for (int k = 0; k < kChains; ++k)
    sum[k] = seed * (static_cast<int>(threadIdx.x) + k);
  for (int i = 0; i < kIterations; ++i) {
#pragma unroll
    for (int k = 0; k < kChains; ++k)
      sum[k] = step(sum[k], i, k);
  }
  for (int k = 1; k < kChains; ++k)
    sum[0] ^= sum[k];
  out[blockIdx.x * kThreads + threadIdx.x] = sum[0];
}

__global__ void __launch_bounds__(kThreads) dp4a_rate(int* out, int seed) {
  const int x = seed * (static_cast<int>(threadIdx.x) + 1);
  run_chains(out, seed, [x](int sum, int i, int) { return __dp4a(x + i, x, sum); });
}

__global__ void __launch_bounds__(kThreads) dp2a_rate(int* out, int seed) {
  const int x = seed * (static_cast<int>(threadIdx.x) + 1);
  run_chains(out, seed, [x](int sum, int i, int) { return __dp2a_lo(x + i, x, sum); });
}

__global__ void __launch_bounds__(kThreads) imad_rate(int* out, int seed) {
  const int x = seed * (static_cast<int>(threadIdx.x) + 1);
  run_chains(out, seed, [x](int sum, int, int k) { return sum * x + k; });
}

__global__ void __launch_bounds__(kThreads) butterfly_rate(int* out, Factor w) {
  uint32_t x[2 * kChains];
  for (int k = 0; k < 2 * kChains; ++k)
    x[k] = threadIdx.x + k;
  for (int i = 0; i < kIterations / 2; ++i) {
#pragma unroll
    for (int k = 0; k < kChains; ++k)
      forward_butterfly(x[k], x[k + kChains], w);
#pragma unroll
    for (int k = 0; k < kChains; ++k)
      forward_butterfly(x[2 * k], x[2 * k + 1], w);
  }
  for (int k = 1; k < 2 * kChains; ++k)
    x[0] ^= x[k];
  out[blockIdx.x * kThreads + threadIdx.x] = static_cast<int>(x[0]);
}

Rates measure_rates() {
  cudaDeviceProp card;
  check(cudaGetDeviceProperties(&card, 0), "asking for the card's properties");
  const int blocks = card.multiProcessorCount * 8;
  const double steps = double{kIterations} * kChains * blocks * kThreads;
  DeviceArray<int> out(static_cast<size_t>(blocks) * kThreads);
  const auto rate = [&](double operations, const std::function<void()>& launch) {
    return operations / median_seconds(0.05, launch);
  };
  Rates rates;
  const auto set = [&](Unit unit, double value) { rates.of[static_cast<size_t>(unit)] = value; };
  set(Unit::imma, rate(steps / 32 * 4096, [&] { imma_rate<<<blocks, kThreads>>>(out.data, 7); }));
  set(Unit::dp4a, rate(steps * 4, [&] { dp4a_rate<<<blocks, kThreads>>>(out.data, 7); }));
  set(Unit::dp2a, rate(steps * 2, [&] { dp2a_rate<<<blocks, kThreads>>>(out.data, 7); }));
  set(Unit::imad, rate(steps, [&] { imad_rate<<<blocks, kThreads>>>(out.data, 7); }));
  const Factor w{17, static_cast<uint32_t>((uint64_t{17} << 32) / kPrime)};
  set(Unit::butterfly, rate(steps, [&] { butterfly_rate<<<blocks, kThreads>>>(out.data, w); }));
  constexpr size_t kBytes = size_t{1} << 30;
  const DeviceArray<char> source(kBytes), target(kBytes);
  check(cudaMemset(source.data, 0x5a, kBytes), "cudaMemset");
  rates.bytes =
      rate(2.0 * kBytes, [&] { cudaMemcpyAsync(target.data, source.data, kBytes, cudaMemcpyDeviceToDevice); });
  return rates;
}

class Gpu : public Device {
 public:
  std::string name() const override {
    cudaDeviceProp card;
    check(cudaGetDeviceProperties(&card, 0), "asking for the card's properties");
    return card.name;
  }
  const std::vector<Way>& ways() const override { return registered_ways(); }
  Rates rates() const override { return measure_rates(); }
};

}  // namespace

}  // namespace polykem::lab

extern "C" __attribute__((visibility("default"))) polykem::lab::Device* polykem_lab_open_device(std::string* problem) {
  static polykem::lab::Gpu gpu;
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaSuccess && count > 0) return &gpu;
  *problem = error == cudaSuccess ? "there is no GPU" : cudaGetErrorString(error);
  return nullptr;
}
