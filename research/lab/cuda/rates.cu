// SPDX-License-Identifier: Apache-2.0
// Measures this GPU's highest rates in the same run, for floors; and the module's entry.
#include <functional>

#include "imma_rate.cuh"
#include "kernel_job.cuh"
#include "ntt_prime.cuh"

namespace polykem::lab {

namespace {

constexpr int kThreads = kRateThreads, kIterations = kRateIterations, kChains = kRateChains;

/// Computes chains of x = step(x, i) and combines their results.
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
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, 0), "asking for the GPU's properties");
  const int blocks = properties.multiProcessorCount * 8;
  const double steps = double{kIterations} * kChains * blocks * kThreads;
  DeviceArray<int> out(static_cast<size_t>(blocks) * kThreads);
  const auto rate = [&](double operations, const std::function<void()>& launch) {
    return operations / median_seconds(0.05, launch);
  };
  Rates rates;
  const auto set = [&](Unit unit, double value) { rates.of[static_cast<size_t>(unit)] = value; };
  set(Unit::kImma, rate(steps / 32 * 4096, [&] { imma_rate<<<blocks, kThreads>>>(out.data, 7); }));
  set(Unit::kDp4a, rate(steps * 4, [&] { dp4a_rate<<<blocks, kThreads>>>(out.data, 7); }));
  set(Unit::kDp2a, rate(steps * 2, [&] { dp2a_rate<<<blocks, kThreads>>>(out.data, 7); }));
  set(Unit::kImad, rate(steps, [&] { imad_rate<<<blocks, kThreads>>>(out.data, 7); }));
  const Factor w{17, static_cast<uint32_t>((uint64_t{17} << 32) / kPrime)};
  set(Unit::kButterfly, rate(steps, [&] { butterfly_rate<<<blocks, kThreads>>>(out.data, w); }));
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
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, 0), "asking for the GPU's properties");
    return properties.name;
  }
  const std::vector<Method>& methods() const override { return registered_methods(); }
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
