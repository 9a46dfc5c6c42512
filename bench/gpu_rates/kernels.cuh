// SPDX-License-Identifier: Apache-2.0
// Kernels that keep one unit of the GPU busy and do nothing else, made of the library's code where it has such code.
// Each kernel writes results that show that the work was done.
#pragma once

#include "prim/aes/cuda/aes128_table.cuh"
#include "prim/drbg/cuda/chacha20.hpp"
#include "prim/ecdh/cuda/field32.hpp"
#include "prim/keccak/cuda/keccak.cuh"
#include "prim/ntt/cuda/ntt.cuh"
#include "prim/polymul/cuda/imma.cuh"

namespace polykem::gpu_rates {

inline constexpr int kThreads = 128;

__device__ __forceinline__ uint32_t thread_number() {
  return blockIdx.x * blockDim.x + threadIdx.x;
}

/// Writes to out[i] word 0 of a state that began as i and zeros, after `permutations` of Keccak-f[1600].
__global__ void __launch_bounds__(kThreads, 6) keccak_kernel(uint64_t* out, int permutations) {
  uint64_t state[25] = {thread_number()};
#pragma unroll 1
  for (int i = 0; i < permutations; ++i)
    cuda::keccak_f1600(state);
  out[thread_number()] = state[0];
}

/// Makes the next block of a chain, in which each block has the first words of the one before as its key.
__host__ __device__ __forceinline__ void chacha_step(uint32_t (&block)[cuda::kChaChaWords]) {
  uint32_t key[8];
  for (int j = 0; j < 8; ++j)
    key[j] = block[j];
  cuda::chacha20_block(block, key, block[8], block[9], block[10], block[11]);
}

/// Writes to out[i] word 0 of the last block of a chain of ChaCha20 that begins with i and zeros.
__global__ void __launch_bounds__(kThreads) chacha_kernel(uint32_t* out, int blocks) {
  uint32_t block[cuda::kChaChaWords] = {thread_number()};
#pragma unroll 1
  for (int i = 0; i < blocks; ++i)
    chacha_step(block);
  out[thread_number()] = block[0];
}

inline constexpr int kChainWords = 8;

/// One operation on each of kChainWords words, by one of the units for integers. The compiler must not find a shorter
/// way to compute two steps at once: of a chain of x ^ (y & mask) it makes three instructions for every two.
struct LogicStep {
  __host__ __device__ static uint32_t chi(uint32_t x, uint32_t y, uint32_t z) { return x ^ (~y & z); }
  __host__ __device__ static void apply(uint32_t (&x)[kChainWords], uint32_t) {
#pragma unroll
    for (int j = 0; j < kChainWords; ++j)
      x[j] = chi(x[j], x[(j + 1) % kChainWords], x[(j + 2) % kChainWords]);
  }
};

struct ShiftStep {
  __host__ __device__ static uint32_t shifted(uint32_t high, uint32_t low) {
#ifdef __CUDA_ARCH__
    return __funnelshift_l(low, high, 7);
#else
    return high << 7 | low >> 25;
#endif
  }
  __host__ __device__ static void apply(uint32_t (&x)[kChainWords], uint32_t) {
#pragma unroll
    for (int j = 0; j < kChainWords; ++j)
      x[j] = shifted(x[j], x[(j + 1) % kChainWords]);
  }
};

struct SumStep {
  __host__ __device__ static void apply(uint32_t (&x)[kChainWords], uint32_t) {
#pragma unroll
    for (int j = 0; j < kChainWords; ++j)
      x[j] += x[(j + 3) % kChainWords] + x[(j + 5) % kChainWords];
  }
};

struct MultiplyAddStep {
  __host__ __device__ static void apply(uint32_t (&x)[kChainWords], uint32_t factor) {
#pragma unroll
    for (int j = 0; j < kChainWords; ++j)
      x[j] = x[j] * factor + x[(j + 1) % kChainWords];
  }
};

/// Logic on one half of the words, multiply-adds on the other.
struct BothUnitsStep {
  __host__ __device__ static void apply(uint32_t (&x)[kChainWords], uint32_t factor) {
    constexpr int kHalf = kChainWords / 2;
#pragma unroll
    for (int j = 0; j < kHalf; ++j) {
      x[j] = LogicStep::chi(x[j], x[(j + 1) % kHalf], x[(j + 2) % kHalf]);
      x[kHalf + j] = x[kHalf + j] * factor + x[kHalf + (j + 1) % kHalf];
    }
  }
};

__host__ __device__ __forceinline__ void fill_chain(uint32_t (&x)[kChainWords], uint32_t thread) {
#pragma unroll
  for (int j = 0; j < kChainWords; ++j)
    x[j] = (thread + 1) * (2654435761u + 2 * j);
}

/// Writes to out[i] the exclusive or of the words after `steps` steps. `factor` is an argument, so that the compiler
/// does not know its value.
template <class Step>
__global__ void __launch_bounds__(kThreads) chain_kernel(uint32_t* out, int steps, uint32_t factor) {
  uint32_t x[kChainWords];
  fill_chain(x, thread_number());
#pragma unroll 32
  for (int i = 0; i < steps; ++i)
    Step::apply(x, factor);
#pragma unroll
  for (int j = 1; j < kChainWords; ++j)
    x[0] ^= x[j];
  out[thread_number()] = x[0];
}

/// Computes two layers of a transform of 16 coefficients, which are 16 butterflies.
inline constexpr int kButterfliesOfStep = 16;
__host__ __device__ __forceinline__ void butterfly_step(cuda::Coefficients& a, uint32_t factor) {
  cuda::forward_layer<8>(a, [&](int) { return factor; });
  cuda::forward_layer<4>(a, [&](int block) { return factor + static_cast<uint32_t>(block); });
}

__host__ __device__ __forceinline__ void fill_coefficients(cuda::Coefficients& a, uint32_t thread) {
#pragma unroll
  for (int j = 0; j < cuda::kLaneCoefficients; ++j)
    a[j] = (thread + 1) * (40503u + 2 * j);
}

__global__ void __launch_bounds__(kThreads) butterfly_kernel(uint32_t* out, int steps, uint32_t factor) {
  cuda::Coefficients a;
  fill_coefficients(a, thread_number());
#pragma unroll 4
  for (int i = 0; i < steps; ++i)
    butterfly_step(a, factor);
#pragma unroll
  for (int j = 1; j < cuda::kLaneCoefficients; ++j)
    a[0] ^= a[j];
  out[thread_number()] = a[0];
}

/// Computes two chains of products of words, of which X25519 consists. Each chain multiplies words of the other one's
/// sum.
inline constexpr int kProductWords = 16, kProductsOfStep = kProductWords / 2;
__host__ __device__ __forceinline__ void product_step(uint32_t (&x)[kProductWords], uint32_t factor) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    ecdh::Chain chain;
    const int to = 8 * half, from = 8 - to;
    chain.multiply(x[to], x[to + 1], x[from], factor);
#pragma unroll
    for (int j = 2; j < 8; j += 2)
      chain.next_multiply(x[to + j], x[to + j + 1], x[from + j], factor);
  }
}

__host__ __device__ __forceinline__ void fill_products(uint32_t (&x)[kProductWords], uint32_t thread) {
#pragma unroll
  for (int j = 0; j < kProductWords; ++j)
    x[j] = (thread + 1) * (2654435761u + 2 * static_cast<uint32_t>(j));
}

__global__ void __launch_bounds__(kThreads) product_kernel(uint32_t* out, int steps, uint32_t factor) {
  uint32_t x[kProductWords];
  fill_products(x, thread_number());
#pragma unroll 8
  for (int i = 0; i < steps; ++i)
    product_step(x, factor);
#pragma unroll
  for (int j = 1; j < kProductWords; ++j)
    x[0] ^= x[j];
  out[thread_number()] = x[0];
}

/// Returns word `which` of a lane's fragments: 0 to 3 of the left operand, 4 and 5 of the right one.
__host__ __device__ __forceinline__ uint32_t fragment_word(uint32_t lane, uint32_t which) {
  uint32_t x = (lane * 6 + which + 1) * 2654435761u;
  x ^= x >> 15;
  return x * 2246822519u;
}

inline constexpr int kTiles = 8;  ///< independent products of a warp

/// Writes, for each lane, four words of the sum of `steps` times the same 16 x 32 by 32 x 8 product. A word is
/// different if any tile of the warp has a different sum.
__global__ void __launch_bounds__(kThreads, 4) tensor_kernel(int* out, int steps) {
  const uint32_t lane = threadIdx.x % 32;
  uint32_t p[4], r[2];
  for (uint32_t k = 0; k < 6; ++k)
    (k < 4 ? p[k] : r[k - 4]) = fragment_word(lane, k);
  // Sums begin with different numbers; otherwise the compiler sees that all tiles are the same.
  int sums[kTiles][4];
  for (int tile = 0; tile < kTiles; ++tile) {
    for (int& sum : sums[tile])
      sum = tile;
  }
#pragma unroll 4
  for (int i = 0; i < steps; ++i) {
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile)
      cuda::mma_16x8x32<true, true>(sums[tile], p, r);
  }
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    int differing = 0;
    for (int tile = 1; tile < kTiles; ++tile)
      differing |= (sums[tile][k] - tile) ^ sums[0][k];
    out[4 * thread_number() + k] = sums[0][k] | differing;
  }
}

inline constexpr int kLookupThreads = 1024, kLookupChains = 4, kLookupEntries = 256;

/// Returns the entry that follows `entry` in a chain of look-ups.
__host__ __device__ constexpr uint32_t next_entry(uint32_t entry) {
  return (5 * entry + 3) % kLookupEntries;
}

/// Looks up entries in a table of which each bank has its own copy. Writes to out[i] the sum of the last entries of the
/// thread's chains.
__global__ void __launch_bounds__(kLookupThreads, 1) lookup_kernel(uint32_t* out, int steps) {
  __shared__ uint32_t table[kLookupEntries * 32];
  for (uint32_t k = threadIdx.x; k < kLookupEntries * 32; k += kLookupThreads)
    table[k] = 128 * next_entry(k / 32) + 4 * (k % 32);
  __syncthreads();
  const auto* const bytes = reinterpret_cast<const uint8_t*>(table);
  uint32_t at[kLookupChains], sum = 0;
#pragma unroll
  for (uint32_t c = 0; c < kLookupChains; ++c)
    at[c] = 128 * ((threadIdx.x + c) % kLookupEntries) + 4 * (threadIdx.x % 32);
#pragma unroll 16
  for (int i = 0; i < steps; ++i) {
#pragma unroll
    for (uint32_t& address : at)
      address = *reinterpret_cast<const uint32_t*>(bytes + address);
  }
#pragma unroll
  for (const uint32_t address : at)
    sum += address / 128;
  out[thread_number()] = sum;
}

inline constexpr int kAesThreads = 512, kAesRows = 2048;
inline constexpr uint32_t kAesGroups = 512;  ///< groups of eight columns
inline constexpr size_t kAesShared = cuda::kAesTableBytes + sizeof(uint4) * kAesRows;

/// Writes to out[i] the exclusive or, over kAesRows rows, of the blocks (row, 8 (i mod kAesGroups)) of FrodoKEM's A.
__global__ void __launch_bounds__(kAesThreads, 1) aes_kernel(uint4* out, uint4 key_words) {
  extern __shared__ __align__(128) uint4 shared_memory[];
  auto* const tables = reinterpret_cast<uint8_t*>(shared_memory);
  uint4* const rows = shared_memory + cuda::kAesTableBytes / sizeof(uint4);
  const cuda::AesLookup lookup(tables, threadIdx.x % 32);
  cuda::fill_aes_tables(tables);
  __syncthreads();
  const uint32_t words[4] = {key_words.x, key_words.y, key_words.z, key_words.w};
  cuda::Aes128Key key;
  key.expand(lookup, words);
  for (uint32_t i = threadIdx.x; i < kAesRows; i += kAesThreads)
    rows[i] = cuda::aes_part_of_first(lookup, key, i);
  const uint4 c = cuda::aes_part_of_second(lookup, key, 8 * (thread_number() % kAesGroups));
  __syncthreads();
  uint32_t sum[4] = {};
#pragma unroll 1
  for (uint32_t i = 0; i < kAesRows; i += 2) {
    const uint4 r0 = rows[i], r1 = rows[i + 1];
    uint32_t a[2][4] = {{r0.x ^ c.x, r0.y ^ c.y, r0.z ^ c.z, r0.w ^ c.w},
                        {r1.x ^ c.x, r1.y ^ c.y, r1.z ^ c.z, r1.w ^ c.w}};
    cuda::aes_last_rounds<2>(a, lookup, key);
#pragma unroll
    for (int k = 0; k < 4; ++k)
      sum[k] ^= a[0][k] ^ a[1][k];
  }
  out[thread_number()] = make_uint4(sum[0], sum[1], sum[2], sum[3]);
}

/// A whole number of blocks.
__global__ void __launch_bounds__(kThreads) copy_kernel(uint4* to, const uint4* from) {
  constexpr int kEach = 4;
  const size_t first = size_t{blockIdx.x} * kThreads * kEach + threadIdx.x;
  uint4 words[kEach];
#pragma unroll
  for (int k = 0; k < kEach; ++k)
    words[k] = from[first + size_t{kThreads} * k];
#pragma unroll
  for (int k = 0; k < kEach; ++k)
    to[first + size_t{kThreads} * k] = words[k];
}
inline constexpr size_t kCopyBytesOfBlock = size_t{kThreads} * 4 * sizeof(uint4);

}  // namespace polykem::gpu_rates
