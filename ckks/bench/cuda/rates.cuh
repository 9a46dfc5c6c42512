// SPDX-License-Identifier: Apache-2.0
// Measures the highest rates of this GPU.
#pragma once

#include "captured.cuh"
#include "ckks/bench/ckks.hpp"
#include "research/lab/cuda/imma_rate.cuh"

namespace polykem::ckks::lab {

/// The instruction that instruction_kernel repeats.
enum class Instruction { kImad, kImadHi, kImadWide, kViaddmin };

inline constexpr int kChains = 8, kChainLength = 1024;

template <Instruction kInstruction>
__global__ void __launch_bounds__(256) instruction_kernel(uint32_t* out, uint32_t a, uint32_t b) {
  uint32_t x[kChains];
  for (int i = 0; i < kChains; ++i)
    x[i] = threadIdx.x + i;
#pragma unroll 16
  for (int k = 0; k < kChainLength; ++k) {
#pragma unroll
    for (uint32_t& y : x) {
      if constexpr (kInstruction == Instruction::kImad) y = y * a + b;
      if constexpr (kInstruction == Instruction::kImadHi) y = __umulhi(y, a) + b;
      if constexpr (kInstruction == Instruction::kImadWide) {
        const uint64_t wide = uint64_t{y} * a + b;
        y = static_cast<uint32_t>(wide) ^ static_cast<uint32_t>(wide >> 32);
      }
      if constexpr (kInstruction == Instruction::kViaddmin) y = __viaddmin_u32(y, a, y ^ b);
    }
  }
  uint32_t sum = 0;
  for (uint32_t y : x)
    sum += y;
  out[blockIdx.x * 256 + threadIdx.x] = sum;
}

/// Measures copies, multiplications and products of bytes, and other instructions for those who count them in kernels.
inline Rates measure_rates() {
  constexpr size_t kBytes = size_t{1} << 30;
  constexpr double kBudget = 0.05;
  const polykem::lab::DeviceArray<char> from(kBytes), to(kBytes);
  const Stream stream;
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, 0), "asking for the GPU's properties");
  const int blocks = properties.multiProcessorCount * 8;
  auto* words = reinterpret_cast<uint32_t*>(to.data);
  const auto instruction = [&](auto* kernel) {
    const double seconds = polykem::lab::median_seconds(
        kBudget, [&] { kernel<<<blocks, 256, 0, stream.get()>>>(words, 0x9e3779b1u, 12345); }, stream.get());
    return double{256} * blocks * kChains * kChainLength / seconds;
  };
  const auto copy = [&] {
    check(cudaMemcpyAsync(to.data, from.data, kBytes, cudaMemcpyDeviceToDevice, stream.get()), "a copy");
  };
  const auto imma = [&] {
    polykem::lab::imma_rate<<<blocks, polykem::lab::kRateThreads, 0, stream.get()>>>(reinterpret_cast<int*>(to.data),
                                                                                     7);
  };
  Rates rates;
  rates.bytes = 2.0 * kBytes / polykem::lab::median_seconds(kBudget, copy, stream.get());
  rates.slots = instruction(instruction_kernel<Instruction::kImad>);
  rates.byte_products = polykem::lab::kImmaRateProducts * blocks * polykem::lab::kRateThreads /
                        polykem::lab::median_seconds(kBudget, imma, stream.get());
  rates.instructions = {{"imad_hi", instruction(instruction_kernel<Instruction::kImadHi>)},
                        {"imad_wide_lop3", instruction(instruction_kernel<Instruction::kImadWide>)},
                        {"viaddmnmx_lop3", instruction(instruction_kernel<Instruction::kViaddmin>)}};
  return rates;
}

}  // namespace polykem::ckks::lab
