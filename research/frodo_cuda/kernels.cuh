// SPDX-License-Identifier: Apache-2.0
// FrodoKEM's two expensive parts for any n, made of the same functions as polykem's own kernels: generating matrices A
// as rows of 16-bit words, and multiplying by a matrix that is stored in limbs.
#pragma once

#include "schemes/frodo/cuda/blocks_aes.cuh"
#include "schemes/frodo/cuda/rows_shake.cuh"
#include "schemes/frodo/matmul/cuda/gemm_limbs.cuh"

namespace polykem::frodo_cuda {

using frodo::kSeedABytes;
using frodo::cuda::kAesThreads;
using frodo::cuda::kRowRate;

inline constexpr uint32_t kStripRows = 16;  ///< rows of A that a block generates by AES at a time

inline constexpr size_t aes_shared_bytes(uint32_t n) {
  return polykem::cuda::kAesTableBytes + sizeof(uint4) * (kStripRows + n / 8);
}

/// Generates matrices by AES-128, each from its seed. n: a multiple of 16. Blocks have equal shares of all strips.
__global__ void __launch_bounds__(kAesThreads, 1)
    gen_a_aes_kernel(uint16_t* out, const uint8_t* seeds, uint32_t n, uint32_t matrices) {
  extern __shared__ __align__(128) uint4 shared_memory[];
  auto* const tables = reinterpret_cast<uint8_t*>(shared_memory);
  uint4* const rows = shared_memory + polykem::cuda::kAesTableBytes / sizeof(uint4);
  uint4* const columns = rows + kStripRows;
  const polykem::cuda::AesLookup lookup(tables, threadIdx.x % 32);
  polykem::cuda::fill_aes_tables(tables);
  const uint32_t groups = n / 8, strips = n / kStripRows, of_groups = 0xffffffffu / groups + 1;
  const size_t all = size_t{strips} * matrices;
  polykem::cuda::Aes128Key key;
  uint32_t current = matrices;
#pragma unroll 1
  for (size_t strip = all * blockIdx.x / gridDim.x; strip < all * (blockIdx.x + 1) / gridDim.x; ++strip) {
    const auto matrix = static_cast<uint32_t>(strip / strips),
               first = static_cast<uint32_t>(strip % strips) * kStripRows;
    __syncthreads();
    if (matrix != current) {
      current = matrix;
      uint32_t seed[4];
      frodo::cuda::load_seed(seed, seeds + kSeedABytes * matrix);
      key.expand(lookup, seed);
      for (uint32_t j = threadIdx.x; j < groups; j += kAesThreads)
        columns[j] = polykem::cuda::aes_part_of_second(lookup, key, 8 * j);
    }
    if (threadIdx.x < kStripRows)
      rows[threadIdx.x] = polykem::cuda::aes_part_of_first(lookup, key, first + threadIdx.x);
    __syncthreads();
    auto* const to = reinterpret_cast<uint4*>(out + (size_t{matrix} * n + first) * n);
#pragma unroll 1
    for (uint32_t pair = threadIdx.x; pair < kStripRows / 2 * groups; pair += kAesThreads) {
      // pair / groups; exact, since the product of both is below 2^32.
      const uint32_t row = __umulhi(pair, of_groups), group = pair - row * groups;
      const uint4 c = columns[group], r0 = rows[row], r1 = rows[row + kStripRows / 2];
      uint32_t a[2][4] = {{r0.x ^ c.x, r0.y ^ c.y, r0.z ^ c.z, r0.w ^ c.w},
                          {r1.x ^ c.x, r1.y ^ c.y, r1.z ^ c.z, r1.w ^ c.w}};
      polykem::cuda::aes_last_rounds<2>(a, lookup, key);
      to[pair] = make_uint4(a[0][0], a[0][1], a[0][2], a[0][3]);
      to[pair + kStripRows / 2 * groups] = make_uint4(a[1][0], a[1][1], a[1][2], a[1][3]);
    }
  }
}

/// Generates matrices by SHAKE128: a thread squeezes a row, a warp writes 32 rows. blockIdx.y is the matrix.
__global__ void __launch_bounds__(32, 16) gen_a_shake_kernel(uint16_t* out, const uint8_t* seeds, uint32_t n) {
  __shared__ uint64_t stage[32 * kRowRate];
  const uint32_t lane = threadIdx.x, first_row = 32 * blockIdx.x, words = n / 4;
  auto* const to = reinterpret_cast<uint64_t*>(out) + (size_t{blockIdx.y} * n + first_row) * words;
  uint32_t seed[4];
  frodo::cuda::load_seed(seed, seeds + kSeedABytes * blockIdx.y);
  uint64_t state[25];
  frodo::cuda::absorb_row(state, first_row + lane, seed);
#pragma unroll 1
  for (uint32_t first = 0; first < words; first += kRowRate) {
    frodo::cuda::keccak_f1600(state);
#pragma unroll
    for (int j = 0; j < kRowRate; ++j)
      stage[lane * kRowRate + j] = state[j];
    __syncwarp();
#pragma unroll
    for (uint32_t k = lane; k < 32 * kRowRate; k += 32) {
      const uint32_t row = k / kRowRate, word = first + k % kRowRate;
      if (first_row + row < n && word < words) to[size_t{row} * words + word] = stage[k];
    }
    __syncwarp();
  }
}

/// A in two limbs of a byte: limb, column, row. Both dimensions are padded with zeros to whole tiles.
struct Limbs {
  const uint8_t* base;
  uint32_t rows, columns;
};

/// Computes the m x n words of S' A, a tile in each block. s: m rows of a.rows signed bytes.
__global__ void __launch_bounds__(polykem::cuda::kGemmThreads, 3)
    product_kernel(uint16_t* out, const uint8_t* s, Limbs a, uint32_t m, uint32_t n) {
  using namespace polykem::cuda;
  extern __shared__ __align__(128) uint4 shared_memory[];
  const uint32_t tiles = a.columns / kGemmColumns, first_column = blockIdx.x % tiles * kGemmColumns;
  const uint32_t first_row = blockIdx.x / tiles * kGemmRows, last = m - 1 - first_row;
  auto* const sums = reinterpret_cast<uint16_t*>(shared_memory);
  GemmTile tile(reinterpret_cast<uint8_t*>(shared_memory));
  tile.multiply(
      a.rows / kGemmInner, s + size_t{first_row} * a.rows, [&](uint32_t r) { return min(r, last) * a.rows; },
      a.base + size_t{first_column} * a.rows,
      [&](uint32_t limb, uint32_t c) { return (limb * a.columns + c) * a.rows; });
  tile.store(sums);
  for (uint32_t k = threadIdx.x; k < kGemmRows * kGemmColumns / 8; k += kGemmThreads) {
    const uint32_t row = k / 8, column = first_column + k % 8 * 8;
    if (row <= last && column < n)
      *reinterpret_cast<uint4*>(out + size_t{first_row + row} * n + column) =
          *reinterpret_cast<const uint4*>(sums + row * kGemmStride + k % 8 * 8);
  }
}

}  // namespace polykem::frodo_cuda
