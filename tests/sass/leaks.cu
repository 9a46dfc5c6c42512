// SPDX-License-Identifier: Apache-2.0
// Kernels that leak, each in a way of its own, and some that do not: tools/sass_check.py must tell them apart.
#include <cstdint>

__constant__ uint32_t table[256] = {1, 2, 3};

/// A loop that ends when the secret says so.
__global__ void leak_branch(uint32_t* out, const uint32_t* secret) {
  uint32_t x = secret[threadIdx.x], turns = 0;
  while (x != 1 && turns < 1000) {
    x = (x & 1) != 0 ? 3 * x + 1 : x / 2;
    ++turns;
  }
  out[threadIdx.x] = turns;
}

/// A store that only some secrets see: compilers make it a predicated instruction.
__global__ void leak_predicated_store(uint32_t* out, const uint32_t* secret) {
  const uint32_t x = secret[threadIdx.x];
  if (x > 7) out[threadIdx.x] = x;
}

__global__ void leak_global_lookup(uint32_t* out, const uint32_t* secret, const uint32_t* values) {
  out[threadIdx.x] = values[secret[threadIdx.x] & 255];
}

__global__ void leak_constant_lookup(uint32_t* out, const uint32_t* secret) {
  out[threadIdx.x] = table[secret[threadIdx.x] & 255];
}

/// The secret reaches the address through shared memory and another lane.
__global__ void leak_shared_lookup(uint32_t* out, const uint32_t* secret) {
  __shared__ uint32_t stage[256];
  stage[threadIdx.x] = secret[threadIdx.x];
  __syncthreads();
  const uint32_t other = __shfl_xor_sync(0xffffffff, stage[255 - threadIdx.x], 1);
  out[threadIdx.x] = stage[other & 255];
}

/// The whole warp's secrets decide together.
__global__ void leak_vote(uint32_t* out, const uint32_t* secret) {
  const uint32_t x = secret[threadIdx.x];
  if (__any_sync(0xffffffff, x == 5) != 0) {
    for (uint32_t i = threadIdx.x; i < 4096; i += blockDim.x)
      out[i] = x;
  }
}

/// Masks, selections and predicates that guard no access; indices and counts are public.
__global__ void clean_select(uint32_t* out, const uint32_t* secret, uint32_t count) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  uint32_t sum = 0;
  for (uint32_t k = 0; k < 8; ++k) {
    const uint32_t x = secret[8 * i + k];
    const uint32_t mask = 0u - (x >> 31);
    sum += (x & mask) | (k & ~mask);
    sum = sum > 100 ? sum - 100 : sum;
  }
  out[i] = sum;
}
