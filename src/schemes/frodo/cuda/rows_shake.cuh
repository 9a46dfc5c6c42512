// SPDX-License-Identifier: Apache-2.0
// Rows of A by SHAKE128: a thread squeezes a row, 84 elements at a time. [FRODO21, Algorithm 8]
#pragma once

#include "prim/keccak/cuda/shake.cuh"
#include "prim/records/cuda/records.cuh"
#include "schemes/frodo/params.hpp"

namespace polykem::frodo::cuda {

using polykem::cuda::keccak_f1600;

inline constexpr int kRowRate = polykem::cuda::kShake128Words;

/// Returns the number of blocks of output that a row takes.
__host__ __device__ constexpr uint32_t row_blocks(uint32_t n) {
  return (n + 4 * kRowRate - 1) / (4 * kRowRate);
}

/// Absorbs the message of a row of A, its number and the seed, but does not permute the state. [FRODO21, Alg 8]
__device__ __forceinline__ void absorb_row(uint64_t (&state)[25], uint32_t row, const uint32_t (&seed)[4]) {
  const uint64_t low = seed[0] | (static_cast<uint64_t>(seed[1]) << 32);
  const uint64_t high = seed[2] | (static_cast<uint64_t>(seed[3]) << 32);
  polykem::cuda::absorb_words<kRowRate, 3>(state, [&](int j) {
    return j == 0   ? row | (low << 16)
           : j == 1 ? (low >> 48) | (high << 16)
                    : (high >> 48) | (polykem::cuda::kShakeSuffix << 16);
  });
}

__device__ __forceinline__ void load_seed(uint32_t (&seed)[4], const uint8_t* from) {
#pragma unroll
  for (int k = 0; k < 4; ++k)
    seed[k] = polykem::cuda::record_word(from, k, kSeedABytes);
}

}  // namespace polykem::frodo::cuda
