// SPDX-License-Identifier: Apache-2.0
// The polynomial a, which the PRG makes from a public seed. [LAC19]
#pragma once

#include "prim/aes/cuda/aes256_table.cuh"
#include "schemes/lac/cuda/prg.cuh"
#include "schemes/lac/sha256/cuda/sha256.cuh"

namespace polykem::lac::cuda {

/// Replaces the bytes of a row of a that are not below q by as many hashes of the seed as it takes; spare: 32 bytes.
template <int kN, class Keys>
__device__ __forceinline__ void reject_by_lane(uint8_t* row, const Keys& keys, size_t item, uint8_t* spare) {
  uint32_t hash[8];
  keys.load(hash, item, 0);
  int used = kSeedBytes;
#pragma unroll 1
  for (int i = 0; i < kN; ++i) {
    uint32_t byte = row[i];
    while (byte >= kQ) {
      if (used == static_cast<int>(kSeedBytes)) {
        polykem::cuda::sha256_of_digest(hash, hash);
#pragma unroll
        for (int b = 0; b < static_cast<int>(kSeedBytes); ++b)
          spare[b] = static_cast<uint8_t>(hash[b / 4] >> (8 * (b % 4)));
        used = 0;
      }
      byte = spare[used++];
    }
    row[i] = static_cast<uint8_t>(byte);
  }
}

/// The threads that make a of one key, and of a block.
inline constexpr unsigned kAThreadsOfKey = 4, kAThreads = 256;

/// The number of blocks for which a multiprocessor must have registers: as many as its shared memory has tables for.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1200
inline constexpr int kABlocks = 3;
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 800
inline constexpr int kABlocks = 2;
#else
inline constexpr int kABlocks = 1;
#endif

/// Makes a of public keys, but for the bytes that are not below q. The dynamic shared memory has the tables.
template <int kN, class Keys>
__global__ void __launch_bounds__(kAThreads, kABlocks) stream_a_kernel(Rows a, Keys keys, size_t count) {
  extern __shared__ __align__(256) uint8_t tables[];
  polykem::cuda::fill_aes_tables<2>(tables);
  const size_t thread = static_cast<size_t>(blockIdx.x) * kAThreads + threadIdx.x, item = thread / kAThreadsOfKey;
  uint32_t key[8];
  keys.load(key, item < count ? item : count - 1, 0);
  __syncthreads();
  if (item >= count) return;
  const polykem::cuda::Aes256PublicStream stream(tables, warp_lane(), key);
  auto* const row = reinterpret_cast<uint4*>(a[item]);
#pragma unroll 1
  for (uint32_t block = threadIdx.x % kAThreadsOfKey; block < kN / 16; block += kAThreadsOfKey)
    row[block] = stream.block(block);
}

/// Replaces the bytes of a that are not below q by those of hashes of the seed. All of it is public. Each lane computes
/// the hashes of one key, then all go through the keys together.
template <int kN, class Keys>
__global__ void __launch_bounds__(32) reject_a_kernel(Rows a, Keys keys, size_t count) {
  // One hash has enough bytes for n = 512, but for one key in 10^8, and two have for n = 1024. Those rare keys, and any
  // with more than seven such bytes in a piece of 16, are computed by a lane each.
  constexpr int kHashes = kN / 512, kSpares = kHashes * static_cast<int>(kSeedBytes), kStride = kSpares + 4;
  constexpr int kPieces = kN / (16 * 32);  // 16 bytes in each lane
  __shared__ uint8_t spares[32 * kStride];
  const LaneItem own(count);
  uint32_t hash[8];
  keys.load(hash, own.index(), 0);
  uint8_t* const spare = spares + kStride * own.lane;
  int usable = 0;
#pragma unroll 1
  for (int h = 0; h < kHashes; ++h) {
    polykem::cuda::sha256_of_digest(hash, hash);
#pragma unroll
    for (int b = 0; b < static_cast<int>(kSeedBytes); ++b) {
      const uint32_t byte = hash[b / 4] >> (8 * (b % 4)) & 0xff;
      spare[usable] = static_cast<uint8_t>(byte);
      usable += byte < kQ ? 1 : 0;
    }
  }
  __syncwarp();
  const unsigned valid = own.valid_lanes();
  const auto load = [&](uint4(&pieces)[kPieces], unsigned m) {
    const auto* const row = reinterpret_cast<const uint4*>(a[own.of(m)]);
#pragma unroll
    for (int p = 0; p < kPieces; ++p)
      pieces[p] = row[32 * p + own.lane];
  };
  const auto flags_of = [](uint32_t word) { return ((bytes_from_q(word) >> 7) * 0x00204081 >> 21) & 15; };
  uint4 next[kPieces];
  load(next, 0);
  bool unusual = false;
#pragma unroll 1
  for (unsigned m = 0; m < valid; ++m) {
    uint32_t flags[kPieces], before[kPieces], all = 0;
    bool crowded = false;
#pragma unroll
    for (int p = 0; p < kPieces; ++p) {
      const uint4 x = next[p];
      flags[p] = flags_of(x.x) | flags_of(x.y) << 4 | flags_of(x.z) << 8 | flags_of(x.w) << 12;
      const auto mine = static_cast<uint32_t>(__popc(flags[p]));
      crowded |= mine > 7;
      before[p] = all;
#pragma unroll
      for (int bit = 0; bit < 3; ++bit) {
        const uint32_t lanes = __ballot_sync(0xffffffff, (mine >> bit & 1) != 0);
        before[p] += static_cast<uint32_t>(__popc(lanes & ((1u << own.lane) - 1))) << bit;
      }
      all = __shfl_sync(0xffffffff, before[p] + mine, 31);
    }
    load(next, m + 1);
    const int there = __shfl_sync(0xffffffff, usable, static_cast<int>(m));
    if (__any_sync(0xffffffff, crowded || static_cast<int>(all) > there)) {
      unusual |= own.lane == m;
      continue;
    }
    uint8_t* const row = a[own.of(m)];
#pragma unroll
    for (int p = 0; p < kPieces; ++p) {
      const uint8_t* from = spares + kStride * m + before[p];
      for (uint32_t left = flags[p]; left != 0; left &= left - 1)
        row[16 * (32 * p + static_cast<int>(own.lane)) + __ffs(static_cast<int>(left)) - 1] = *from++;
    }
  }
  if (unusual) reject_by_lane<kN>(a[own.index()], keys, own.index(), spare);
}

}  // namespace polykem::lac::cuda
