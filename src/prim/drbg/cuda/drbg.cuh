// SPDX-License-Identifier: Apache-2.0
// Random bytes on the device. Block j of item i of a batch is the first 136 bytes of SHAKE256(seed, i, "polykem" and a
// domain byte, j), with i and j as 64-bit numbers, so that all blocks are independent. The seed is fresh for every
// batch and comes from the host's generator.
#pragma once

#include "prim/drbg/cuda/coin_layout.hpp"
#include "prim/keccak/cuda/keccak.cuh"
#include "prim/records/cuda/items.cuh"

namespace polykem::cuda {

/// The operation that takes the coins. It separates the streams of one seed.
enum class CoinDomain : uint8_t { kKeygen = 0, kEncaps = 1, kSign = 2 };

static_assert(kCoinBlockBytes == kRateBytes);

inline constexpr uint64_t kCoinName = 0x006d656b796c6f70;  ///< the letters "polykem"

/// The number of 64-bit words of the message from which a block is made.
inline constexpr uint32_t kCoinMessageWords = 7;
/// Returns word j of the message of block `block` of an item.
__device__ __forceinline__ uint64_t coin_message_word(const uint32_t* seed, CoinDomain domain, uint64_t item,
                                                      uint64_t block, unsigned j) {
  if (j < 4) return seed[2 * j] | (static_cast<uint64_t>(seed[2 * j + 1]) << 32);
  if (j == 4) return item;
  return j == 5 ? kCoinName | (static_cast<uint64_t>(domain) << 56) : block;
}

/// Makes block `block` of an item: the first kRateBytes of the state.
__device__ __forceinline__ void make_coin_block(uint64_t (&state)[25], const uint32_t* seed, CoinDomain domain,
                                                uint64_t item, uint64_t block) {
#pragma unroll
  for (int j = 0; j < 25; ++j)
    state[j] = 0;
#pragma unroll
  for (int j = 0; j < 4; ++j)
    state[j] = seed[2 * j] | (static_cast<uint64_t>(seed[2 * j + 1]) << 32);
  state[4] = item;
  state[5] = kCoinName | (static_cast<uint64_t>(domain) << 56);
  state[6] = block;
  state[7] = 0x1f;
  state[16] = 0x8000000000000000;
  keccak_f1600(state);
}

/// Sets `words` to the first kWords words of an item's random bytes: the caller's coins, which have no more, if there
/// are any, else those of the generator.
template <int kWords>
__device__ __forceinline__ void make_coin_words(uint32_t (&words)[kWords], const uint8_t* coins, const uint32_t* seed,
                                                CoinDomain domain, size_t item) {
  if (coins != nullptr) return load_words(words, coins + item * 4 * kWords);
  uint64_t state[25];
  make_coin_block(state, seed, domain, item, 0);
  squeeze_words(words, state);
}

/// Makes the 32 blocks of warp number `warp`, of a batch of `count` items. `rows` has kStride bytes for each item;
/// `scratch` is kScratchWords words of shared memory of this warp.
template <uint32_t kBlocks, uint32_t kStride>
__device__ __forceinline__ void warp_make_coins(uint8_t* rows, const uint32_t* seed, CoinDomain domain, uint64_t warp,
                                                uint64_t count, uint32_t* scratch, unsigned lane) {
  const CoinLayout<kBlocks, kStride> layout(warp, count);
  uint64_t state[25];
  make_coin_block(state, seed, domain, layout.item(lane), layout.block(lane));
#pragma unroll
  for (int j = 0; j < kRateWords / 2; ++j) {
    uint32_t* row = scratch + lane * kScratchStride + 2 * j;
    row[0] = static_cast<uint32_t>(state[j]);
    row[1] = static_cast<uint32_t>(state[j] >> 32);
  }
  __syncwarp();
  uint32_t* const first_row = reinterpret_cast<uint32_t*>(rows + layout.row_offset());
  const uint32_t offset = layout.block_offset(lane);
#pragma unroll 2
  for (int t = static_cast<int>(lane); t < 32 * kRateWords; t += 32) {
    const int m = t / kRateWords, w = t % kRateWords;
    const size_t at = size_t{2} * __shfl_sync(0xffffffff, offset, m) + w;
    if (m < static_cast<int>(layout.valid())) first_row[at] = scratch[m * kScratchStride + w];
  }
}

}  // namespace polykem::cuda
