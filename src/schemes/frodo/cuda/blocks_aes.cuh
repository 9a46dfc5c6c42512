// SPDX-License-Identifier: Apache-2.0
// Blocks of A by AES-128: eight neighbouring elements of a row, made by lanes of a block of threads that has the AES
// tables in its shared memory. [FRODO21, Algorithm 7]
#pragma once

#include "prim/aes/cuda/aes128_table.cuh"
#include "prim/records/cuda/records.cuh"
#include "schemes/frodo/cuda/sizes.hpp"

namespace polykem::frodo::cuda {

using polykem::cuda::Aes128Key;
using polykem::cuda::AesLookup;

inline constexpr int kAesThreads = 512, kAesWarps = kAesThreads / 32;

/// The layout of a block's shared memory behind the AES tables, in bytes from the beginning. n: a multiple of 16.
struct AesLayout {
  uint32_t sums, mismatch, rows, columns, s, end;
};

/// Returns the bytes of a row of S transposed in shared memory, with zeros behind it and with eight rows in distinct
/// banks.
__host__ __device__ constexpr uint32_t s_stride(uint32_t n) {
  return (n + 16 + 95) / 128 * 128 + 32;
}

/// Returns the layout. sums: 32-bit words. rows, columns: what the AES states have from rows and from groups of eight
/// columns of A, 16 bytes each. s: S, or S' with the eight values that meet a row of A side by side. Packed
/// coefficients overwrite rows, columns and s.
__host__ __device__ constexpr AesLayout aes_layout(uint32_t n) {
  AesLayout at{};
  at.sums = polykem::cuda::kAesTableBytes;
  at.mismatch = at.sums + 4 * 8 * ((n + 63) / 64 * 64);
  at.rows = at.mismatch + 16;
  at.columns = at.rows + 16 * n;
  at.s = at.columns + 16 * (n / 8);
  at.end = at.s + 8 * s_stride(n);
  return at;
}

static_assert(aes_layout(640).end == aes_shared_bytes(640) && aes_layout(976).end == aes_shared_bytes(976) &&
              aes_layout(1344).end == aes_shared_bytes(1344));

/// The block's tables, the key of an item and its parts of the AES states. All threads of the block construct it.
struct AesBlock {
  uint8_t* const shared;
  const AesLayout at;
  const AesLookup lookup;
  Aes128Key key;

  __device__ __forceinline__ AesBlock(uint8_t* memory, uint32_t n, const uint8_t* seed_a)
      : shared(memory), at(aes_layout(n)), lookup(memory, threadIdx.x % 32) {
    polykem::cuda::fill_aes_tables(shared);
    uint32_t seed[4];
#pragma unroll
    for (int k = 0; k < 4; ++k)
      seed[k] = polykem::cuda::record_word(seed_a, k, kSeedABytes);
    for (uint32_t k = threadIdx.x; k < (at.mismatch - at.sums) / 4; k += kAesThreads)
      sums()[k] = 0;
    __syncthreads();
    key.expand(lookup, seed);
#pragma unroll 1
    for (uint32_t i = threadIdx.x; i < n; i += kAesThreads)
      reinterpret_cast<uint4*>(shared + at.rows)[i] = polykem::cuda::aes_part_of_first(lookup, key, i);
    if (threadIdx.x < n / 8)
      reinterpret_cast<uint4*>(shared + at.columns)[threadIdx.x] =
          polykem::cuda::aes_part_of_second(lookup, key, 8 * threadIdx.x);
  }

  __device__ __forceinline__ int* sums() const {
    return reinterpret_cast<int*>(shared + at.sums);
  }
  __device__ __forceinline__ uint32_t* mismatch() const {
    return reinterpret_cast<uint32_t*>(shared + at.mismatch);
  }
  __device__ __forceinline__ uint8_t* packed() const {
    return shared + at.rows;
  }
  __device__ __forceinline__ uint8_t* s() const {
    return shared + at.s;
  }
  __device__ __forceinline__ uint4 row(uint32_t i) const {
    return reinterpret_cast<uint4*>(shared + at.rows)[i];
  }
  __device__ __forceinline__ uint4 columns(uint32_t j) const {
    return reinterpret_cast<uint4*>(shared + at.columns)[j];
  }

  /// Computes elements 2 w and 2 w + 1 of two blocks of eight elements, as word w.
  __device__ __forceinline__ void elements(uint32_t (&a)[2][4], uint4 row0, uint4 columns0, uint4 row1,
                                           uint4 columns1) const {
    a[0][0] = row0.x ^ columns0.x, a[0][1] = row0.y ^ columns0.y;
    a[0][2] = row0.z ^ columns0.z, a[0][3] = row0.w ^ columns0.w;
    a[1][0] = row1.x ^ columns1.x, a[1][1] = row1.y ^ columns1.y;
    a[1][2] = row1.z ^ columns1.z, a[1][3] = row1.w ^ columns1.w;
    polykem::cuda::aes_last_rounds<2>(a, lookup, key);
  }
};

}  // namespace polykem::frodo::cuda
