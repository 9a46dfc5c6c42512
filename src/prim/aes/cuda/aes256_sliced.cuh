// SPDX-License-Identifier: Apache-2.0
// AES-256 in counter mode, bit-sliced over 32 keys. Plane p of a state has bit p of the same block under each of the
// keys, so no look-up and no address depends on a secret. A round key consists of planes, too, which all threads of the
// 32 items share. A thread encrypts one block of each item. [FIPS197]
//
// Plane 32 c + 8 r + b holds bit b of row r, column c, which is bit 8 r + b of word c of a block.
#pragma once

#include <cstdint>

#include "prim/aes/cuda/sbox.cuh"
#include "prim/cuda/transpose.cuh"

namespace polykem::cuda {

inline constexpr int kAes256Rounds = 14, kAesPlanes = 128;
/// The words that the round keys of 32 items take. Four of them are padding, so that several such arrays side by side
/// are in distinct banks.
inline constexpr int kAesKeyWords = (kAes256Rounds + 1) * kAesPlanes + 4;

/// Writes the planes of the key of the lane's item to `keys`, kAesKeyWords words of shared memory, for
/// extend_aes256_keys(). All lanes call it together.
__device__ __forceinline__ void begin_aes256_keys(uint32_t* keys, const uint32_t (&key)[8], unsigned lane) {
#pragma unroll
  for (int w = 0; w < 8; ++w)
    keys[32 * w + lane] = transpose_warp(key[w], lane);
}

/// Writes the round keys of kGroups groups of 32 items, one group after the other, to `keys`, which has their keys. All
/// round keys but the first include the S-box's constant, which goes through ShiftRows and MixColumns unchanged. All
/// lanes call it together, and synchronise before and afterwards. A lane computes a row of a group. [FIPS197, 5.2]
template <int kGroups>
__device__ __forceinline__ void extend_aes256_keys(uint32_t* keys, unsigned lane) {
  static_assert(kGroups <= 8, "four lanes for a group");
  const unsigned row = lane % 4, group = lane / 4 < kGroups ? lane / 4 : kGroups - 1;
  uint32_t* const own = keys + group * kAesKeyWords + 8 * row;
  const auto constant = [](int b) { return 0u - (aes::kSubBytesConstant >> b & 1u); };
  aes::Bits<uint32_t> words[8];  // the last eight
#pragma unroll
  for (int w = 0; w < 8; ++w) {
#pragma unroll
    for (int b = 0; b < 8; ++b)
      words[w][b] = own[32 * w + b];
  }
  __syncwarp();  // lanes without a group read what others write
#pragma unroll
  for (int w = 4; w < 8; ++w) {
#pragma unroll
    for (int b = 0; b < 8; ++b)
      own[32 * w + b] = words[w][b] ^ constant(b);
  }
#pragma unroll 1
  for (int turn = 1; turn < 8; ++turn) {
#pragma unroll
    for (int w = 0; w < 8; ++w) {
      if (w == 4 && turn == 7) break;
      aes::Bits<uint32_t> more = words[(w + 7) % 8];
      if (w % 4 == 0) {
#pragma unroll
        for (int b = 0; b < 8; ++b) {
          if (w == 0) more[b] = __shfl_sync(0xffffffff, more[b], (lane & ~3u) | (lane + 1) % 4);
        }
        more = sub_bytes_lop3(more);
#pragma unroll
        for (int b = 0; b < 8; ++b)
          more[b] ^= constant(b) ^ (w == 0 && row == 0 && b == turn - 1 ? 0xffffffff : 0);
      }
#pragma unroll
      for (int b = 0; b < 8; ++b) {
        words[w][b] ^= more[b];
        own[32 * (8 * turn + w) + b] = words[w][b] ^ constant(b);
      }
    }
  }
}

using AesState = uint32_t[4][32];

/// Applies ShiftRows, MixColumns if kMix (in all rounds but the last), and AddRoundKey. With d_r = a_r + a_(r+1),
/// MixColumns computes 2 a_r + 3 a_(r+1) + a_(r+2) + a_(r+3) = 2 d_r + a_(r+1) + d_(r+2). [FIPS197, 5.1.2 to 5.1.4]
template <bool kMix>
__device__ __forceinline__ void shift_mix_add(AesState& state, const uint32_t* key) {
  constexpr unsigned kPolynomial = 0x1b;
  AesState out;
#pragma unroll
  for (int c = 0; c < 4; ++c) {
    const auto shifted = [&](int r, int b) { return state[(c + r) % 4][r % 4 * 8 + b]; };
    const auto d = [&](int r, int b) { return shifted(r, b) ^ shifted(r + 1, b); };
    const uint32_t highest[4] = {d(0, 7), d(1, 7), d(2, 7), d(3, 7)};
    uint32_t below[4] = {};  // d of the next lower bit
#pragma unroll
    for (int b = 0; b < 8; ++b) {
      const uint32_t of_bit[4] = {d(0, b), d(1, b), d(2, b), d(3, b)};
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        uint32_t x = key[32 * c + 8 * r + b];
        if constexpr (kMix) {
          const uint32_t carried = kPolynomial >> b & 1 ? highest[r] : 0;
          x = sum_of_three(x, shifted(r + 1, b), of_bit[(r + 2) % 4]);
          x = b == 0 ? x ^ carried : sum_of_three(x, below[r], carried);
        } else {
          x ^= shifted(r, b);
        }
        out[c][8 * r + b] = x;
        below[r] = of_bit[r];
      }
    }
  }
#pragma unroll
  for (int c = 0; c < 4; ++c) {
#pragma unroll
    for (int p = 0; p < 32; ++p)
      state[c][p] = out[c][p];
  }
}

/// Computes block `block` < 256 of the keystreams of 32 items, whose nonce is 0 and whose counters begin at 0.
/// state[c][i] becomes word c of item i's block.
__device__ __forceinline__ void aes256_counter_block(AesState& state, const uint32_t* keys, uint32_t block) {
#pragma unroll
  for (int p = 0; p < kAesPlanes; ++p)
    state[p / 32][p % 32] = keys[p];
#pragma unroll
  for (int b = 0; b < 8; ++b)
    state[3][24 + b] ^= 0u - (block >> b & 1u);
#pragma unroll 1
  for (int round = 1; round <= kAes256Rounds; ++round) {
    keys += kAesPlanes;
#pragma unroll
    for (int p = 0; p < kAesPlanes; p += 8) {
      aes::Bits<uint32_t> x;
#pragma unroll
      for (int b = 0; b < 8; ++b)
        x[b] = state[p / 32][p % 32 + b];
      x = sub_bytes_lop3(x);
#pragma unroll
      for (int b = 0; b < 8; ++b)
        state[p / 32][p % 32 + b] = x[b];
    }
    if (round < kAes256Rounds) {
      shift_mix_add<true>(state, keys);
    } else {
      shift_mix_add<false>(state, keys);
    }
  }
#pragma unroll
  for (auto& column : state)
    transpose_words(column);
}

}  // namespace polykem::cuda
