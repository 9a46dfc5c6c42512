// SPDX-License-Identifier: Apache-2.0
// Products of unsigned 16-bit by signed 8-bit matrices on int8 tensor cores, without splitting the wide operand: its
// two bytes take two places of the tile's k, and the narrow operand is zero in the place of the other byte.
#pragma once

#include "prim/polymul/cuda/imma.cuh"

namespace polykem::cuda {

/// Returns the narrow operand's words for the low bytes, from two neighbouring values: (s0, 0, s1, 0). Shifted by one
/// byte they are those for the high bytes.
__device__ __forceinline__ uint32_t spread_bytes(uint32_t two) {
  return __byte_perm(two, 0, 0x4140);
}

/// Loads four 8 x 8 matrices of 16-bit words, transposed: lane 4 g + t gets rows 2 t and 2 t + 1 of column g of each.
/// Each lane gives the address of a row.
__device__ __forceinline__ void load_matrices_transposed(uint32_t (&fragment)[4], uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(fragment[0]), "=r"(fragment[1]), "=r"(fragment[2]), "=r"(fragment[3])
               : "r"(address)
               : "memory");
}

/// A row of a tile of A in shared memory has what SHAKE128 squeezes at once, and padding so that eight rows are in
/// distinct banks.
inline constexpr int kTileColumns = 84, kTileStride = 176;
inline constexpr int kTileBytes = 32 * kTileStride;
/// The number of groups of eight columns. The last one is half padding.
inline constexpr int kTileGroups = 11;
/// The number of sums of a tile. Column 8 h + g, row 2 t + e of the product is word 64 h + 32 e + 4 g + t.
inline constexpr int kTileSums = 64 * kTileGroups;

/// Computes sums += S' A for 8 x 32 words of S' and two groups of columns, `group` and the next, of a tile of 32 rows
/// of A. s[k]: rows 8 k + 2 t and 8 k + 2 t + 1 of column g of S' transposed, spread. address: that of the row that
/// this lane gives to ldmatrix. sums: in shared memory; warps may share them. The last group has no next one: it is
/// loaded twice.
__device__ __forceinline__ void add_groups_product(int* sums, uint32_t address, const uint32_t (&s)[4], unsigned lane,
                                                   uint32_t group) {
  const bool last = group + 1 == kTileGroups;
  const uint32_t from = address + 16 * group - (last ? lane / 8 % 2 * 16 : 0);
  int sum[4] = {};
  uint32_t a[2][4];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    load_matrices_transposed(a[half], from + 16 * half * kTileStride);
    mma_16x8x32<false, true>(sum, a[half], {s[2 * half] << 8, s[2 * half + 1] << 8});
  }
#pragma unroll
  for (int& part : sum)
    part *= 256;
#pragma unroll
  for (int half = 0; half < 2; ++half)
    mma_16x8x32<false, true>(sum, a[half], {s[2 * half], s[2 * half + 1]});
  int* const to = sums + 64 * group + lane;
  atomicAdd(to, sum[0]);
  atomicAdd(to + 32, sum[1]);
  if (last) return;
  atomicAdd(to + 64, sum[2]);
  atomicAdd(to + 96, sum[3]);
}

/// Returns the address of the row of a tile that a lane gives to ldmatrix for the first group.
__device__ __forceinline__ uint32_t tile_address(const uint8_t* tile, unsigned lane) {
  const unsigned matrix = lane / 8;
  return static_cast<uint32_t>(__cvta_generic_to_shared(tile)) + (matrix / 2 * 8 + lane % 8) * kTileStride +
         matrix % 2 * 16;
}

}  // namespace polykem::cuda
