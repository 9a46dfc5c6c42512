// SPDX-License-Identifier: Apache-2.0
// SHA3 and SHAKE on the device, one thread a message, the state in registers. [FIPS202]
#pragma once

#include <cstddef>
#include <cstdint>

namespace polykem::cuda {

__constant__ constexpr uint64_t kKeccakRoundConstants[24] = {
    0x0000000000000001, 0x0000000000008082, 0x800000000000808a, 0x8000000080008000, 0x000000000000808b,
    0x0000000080000001, 0x8000000080008081, 0x8000000000008009, 0x000000000000008a, 0x0000000000000088,
    0x0000000080008009, 0x000000008000000a, 0x000000008000808b, 0x800000000000008b, 0x8000000000008089,
    0x8000000000008003, 0x8000000000008002, 0x8000000000000080, 0x000000000000800a, 0x800000008000000a,
    0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008};

/// Rotation of lane x + 5y, 0 <= offset < 64. [FIPS202, 3.2.2]
__host__ __device__ constexpr unsigned keccak_rotation(int lane) {
  constexpr unsigned kOffsets[25] = {0,  1,  62, 28, 27, 36, 44, 6,  55, 20, 3,  10, 43,
                                     25, 39, 41, 45, 15, 21, 8,  18, 2,  61, 56, 14};
  return kOffsets[lane];
}

__device__ __forceinline__ uint64_t rotate_left(uint64_t x, unsigned r) {
  return r == 0 ? x : (x << r) | (x >> (64 - r));
}

/// Keccak-f[1600] in place; every index is a constant after unrolling, so the state stays in registers.
__device__ __forceinline__ void keccak_f1600(uint64_t (&a)[25]) {
#pragma unroll 1
  for (int round = 0; round < 24; ++round) {
    uint64_t c[5], b[25];
#pragma unroll
    for (int x = 0; x < 5; ++x)
      c[x] = a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20];
    uint64_t r[5];
#pragma unroll
    for (int x = 0; x < 5; ++x)
      r[x] = rotate_left(c[x], 1);
#pragma unroll
    for (int x = 0; x < 5; ++x) {
#pragma unroll
      for (int y = 0; y < 5; ++y) {
        const uint64_t mixed = a[x + 5 * y] ^ c[(x + 4) % 5] ^ r[(x + 1) % 5];
        b[y + 5 * ((2 * x + 3 * y) % 5)] = rotate_left(mixed, keccak_rotation(x + 5 * y));
      }
    }
#pragma unroll
    for (int y = 0; y < 25; y += 5) {
#pragma unroll
      for (int x = 0; x < 5; ++x)
        a[y + x] = b[y + x] ^ (~b[y + (x + 1) % 5] & b[y + (x + 2) % 5]);
    }
    a[0] ^= kKeccakRoundConstants[round];
  }
}

inline constexpr int kRateBytes = 136;             ///< of SHA3-256 and of SHAKE256
inline constexpr int kRateWords = kRateBytes / 4;  ///< 32-bit words
/// Odd, so that 32 threads reading the same word of their own rows touch 32 banks.
inline constexpr int kStageStride = kRateWords + 1;
inline constexpr int kStageWords = 32 * kStageStride;  ///< shared memory of one warp, in 32-bit words

/// SHA3-256 of 32 messages of kBytes bytes by one warp, one message a lane; digest valid in every lane.
/// word(m, w): the 32-bit word w of lane m's message, asked once by some lane, in coalesced order; bytes past the end
/// are masked here. It must be safe for every m in 0..31. stage: kStageWords words of shared memory of this warp.
template <int kBytes, class Word>
__device__ __forceinline__ void warp_sha3_256(uint32_t (&digest)[8], uint32_t* stage, unsigned lane, Word word) {
  constexpr int kBlocks = kBytes / kRateBytes + 1;
  constexpr int kWholeWords = kBytes / 4, kTail = kBytes % 4;
  uint64_t state[25] = {};
#pragma unroll 1
  for (int block = 0; block < kBlocks; ++block) {
#pragma unroll 2
    for (int t = static_cast<int>(lane); t < 32 * kRateWords; t += 32) {
      const int m = t / kRateWords, w = t % kRateWords, index = block * kRateWords + w;
      uint32_t value = 0;
      if (index < kWholeWords + (kTail > 0)) value = word(m, index);
      if (kTail > 0 && index == kWholeWords) value &= (1u << (8 * kTail)) - 1;
      if (index == kWholeWords) value = (kTail > 0 ? value : 0) | (6u << (8 * kTail));
      stage[m * kStageStride + w] = value;
    }
    __syncwarp();
#pragma unroll
    for (int j = 0; j < kRateWords / 2; ++j) {
      const uint32_t* row = stage + lane * kStageStride + 2 * j;
      state[j] ^= row[0] | (static_cast<uint64_t>(row[1]) << 32);
    }
    __syncwarp();
    if (block == kBlocks - 1) state[16] ^= 0x8000000000000000;
    keccak_f1600(state);
  }
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    digest[2 * j] = static_cast<uint32_t>(state[j]);
    digest[2 * j + 1] = static_cast<uint32_t>(state[j] >> 32);
  }
}

}  // namespace polykem::cuda
