// SPDX-License-Identifier: Apache-2.0
// AES-256 in counter mode, bit-sliced over 32 keys. Plane p of a state has bit p of the same block under each of the
// keys, so no look-up and no address depends on a secret. A round key consists of planes, too, which all threads of the
// 32 items share. A thread encrypts one block of each item. [FIPS197]
//
// Plane 32 c + 8 r + b holds bit b of row r, column c, which is bit 8 r + b of word c of a block.
#pragma once

#include <cstdint>

#include "prim/aes/ref/sbox.hpp"
#include "prim/cuda/transpose.cuh"

namespace polykem::cuda {

inline constexpr int kAes256Rounds = 14, kAesPlanes = 128;
/// The words that the round keys of 32 items take. Four of them are padding, so that several such arrays side by side
/// are in distinct banks.
inline constexpr int kAesKeyWords = (kAes256Rounds + 1) * kAesPlanes + 4;

/// Applies the S-box without its constant to the byte whose planes lanes `first` .. `first + 7` hold. Returns plane
/// lane % 8 of the result.
__device__ __forceinline__ uint32_t warp_sub_bytes(uint32_t plane, unsigned first, unsigned lane) {
  aes::Bits<uint32_t> x;
#pragma unroll
  for (unsigned b = 0; b < 8; ++b)
    x[b] = __shfl_sync(0xffffffff, plane, first + b);
  x = aes::sub_bytes_linear(x);
  uint32_t out = x[0];
#pragma unroll
  for (unsigned b = 1; b < 8; ++b)
    out = lane % 8 == b ? x[b] : out;
  return out;
}

/// Writes the round keys of 32 items to `keys`, kAesKeyWords words of shared memory; `key` is the key of the lane's
/// item. All round keys but the first include the S-box's constant, which goes through ShiftRows and MixColumns
/// unchanged. All lanes call it together, and synchronise before the keys are used. [FIPS197, 5.2]
__device__ __forceinline__ void expand_aes256_keys(uint32_t* keys, const uint32_t (&key)[8], unsigned lane) {
  const uint32_t constant = 0u - (aes::kSubBytesConstant >> lane % 8 & 1u);
  uint32_t lane_planes[8];  // this lane's planes of the last eight words
#pragma unroll
  for (int w = 0; w < 8; ++w) {
    lane_planes[w] = transpose_warp(key[w], lane);
    keys[32 * w + lane] = lane_planes[w] ^ (w < 4 ? 0 : constant);
  }
#pragma unroll 1
  for (unsigned turn = 1; turn < 8; ++turn) {
#pragma unroll
    for (unsigned w = 0; w < 8; ++w) {
      if (w == 4 && turn == 7) break;
      uint32_t more = lane_planes[(w + 7) % 8];
      if (w == 0) {
        const uint32_t round_constant = lane == turn - 1 ? 0xffffffff : 0;
        more = warp_sub_bytes(more, (lane / 8 + 1) % 4 * 8, lane) ^ constant ^ round_constant;
      }
      if (w == 4) more = warp_sub_bytes(more, lane / 8 * 8, lane) ^ constant;
      lane_planes[w] ^= more;
      keys[32 * (8 * turn + w) + lane] = lane_planes[w] ^ constant;
    }
  }
}

using AesState = uint32_t[4][32];

/// Applies ShiftRows, MixColumns if kMix (in all rounds but the last), and AddRoundKey. MixColumns computes
/// 2 a_r + 3 a_(r+1) + a_(r+2) + a_(r+3) = 2 (a_r + a_(r+1)) + a_(r+1) + a_(r+2) + a_(r+3). [FIPS197, 5.1.2 to 5.1.4]
template <bool kMix>
__device__ __forceinline__ void shift_mix_add(AesState& state, const uint32_t* key) {
  constexpr unsigned kPolynomial = 0x1b;
  AesState out;
#pragma unroll
  for (int c = 0; c < 4; ++c) {
    const auto shifted = [&](int r, int b) { return state[(c + r) % 4][r % 4 * 8 + b]; };
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      const auto twice_of = [&](int b) { return shifted(r, b) ^ shifted(r + 1, b); };
#pragma unroll
      for (int b = 0; b < 8; ++b) {
        uint32_t x = key[32 * c + 8 * r + b];
        if constexpr (kMix) {
          x ^= shifted(r + 1, b) ^ shifted(r + 2, b) ^ shifted(r + 3, b);
          if (b > 0) x ^= twice_of(b - 1);
          if (kPolynomial >> b & 1) x ^= twice_of(7);
        } else {
          x ^= shifted(r, b);
        }
        out[c][8 * r + b] = x;
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
      x = aes::sub_bytes_linear(x);
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
