// SPDX-License-Identifier: Apache-2.0
// Random bytes on the device. Block j of item i is block j of ChaCha20's keystream with the seed as the key and i, as a
// 64-bit number, and the operation as the nonce, so that all blocks are independent. The host's generator makes a seed
// for every batch, of which each part gets one of its own (accelerators/cuda/module/part.cpp).
#pragma once

#include "prim/drbg/cuda/coin_block.hpp"
#include "prim/drbg/cuda/coin_layout.hpp"
#include "prim/records/cuda/items.cuh"

namespace polykem::cuda {

static_assert(kCoinBlockBytes == 4 * kChaChaWords);

/// Sets `words` to the first kWords words of an item's random bytes.
template <int kWords>
__device__ __forceinline__ void generate_words(uint32_t (&words)[kWords], const uint32_t* seed, CoinDomain domain,
                                               uint64_t item) {
#pragma unroll
  for (int first = 0; first < kWords; first += kChaChaWords) {
    uint32_t block[kChaChaWords];
    make_coin_block(block, seed, domain, item, static_cast<uint32_t>(first / kChaChaWords));
#pragma unroll
    for (int w = first; w < first + kChaChaWords && w < kWords; ++w)
      words[w] = block[w - first];
  }
}

/// Sets `words` to the first kWords words of an item's random bytes: the caller's coins, which have no more, if there
/// are any, else those of the generator.
template <int kWords>
__device__ __forceinline__ void make_coin_words(uint32_t (&words)[kWords], const uint8_t* coins, const uint32_t* seed,
                                                CoinDomain domain, size_t item) {
  if (coins != nullptr) return load_words(words, coins + item * 4 * kWords);
  generate_words(words, seed, domain, item);
}

/// Returns 64-bit word j of an item's random bytes; each lane may ask for another one.
__device__ __forceinline__ uint64_t make_coin_word(const uint32_t* seed, CoinDomain domain, uint64_t item, uint32_t j) {
  constexpr uint32_t kWords = kChaChaWords / 2;
  uint32_t block[kChaChaWords];
  make_coin_block(block, seed, domain, item, j / kWords);
  uint64_t word = 0;
#pragma unroll
  for (uint32_t w = 0; w < kWords; ++w)
    word |=
        (block[2 * w] | static_cast<uint64_t>(block[2 * w + 1]) << 32) & (0 - static_cast<uint64_t>(j % kWords == w));
  return word;
}

/// Shared memory of a warp that makes blocks, and the distance from one lane's block to the next, which keeps lanes in
/// different banks.
inline constexpr uint32_t kCoinPieces = kCoinBlockBytes / sizeof(uint4), kCoinScratchStride = kCoinPieces + 1,
                          kCoinScratchPieces = 32 * kCoinScratchStride;

/// Makes the 32 blocks of warp number `warp`, of a batch of `count` items. `rows`, of kStride bytes for each item, are
/// 16-byte aligned; `scratch` is kCoinScratchPieces pieces of shared memory of this warp.
template <uint32_t kBlocks, uint32_t kStride>
__device__ __forceinline__ void warp_make_coins(uint8_t* rows, const uint32_t* seed, CoinDomain domain, uint64_t warp,
                                                uint64_t count, uint4* scratch, unsigned lane) {
  const CoinLayout<kBlocks, kStride> layout(warp, count);
  uint32_t words[kChaChaWords];
  make_coin_block(words, seed, domain, layout.item(lane), layout.block(lane));
#pragma unroll
  for (uint32_t p = 0; p < kCoinPieces; ++p)
    scratch[lane * kCoinScratchStride + p] =
        make_uint4(words[4 * p], words[4 * p + 1], words[4 * p + 2], words[4 * p + 3]);
  __syncwarp();
  auto* const first_row = reinterpret_cast<uint4*>(rows + layout.row_offset());
  const uint32_t offset = layout.block_offset(lane);
#pragma unroll
  for (uint32_t t = lane; t < 32 * kCoinPieces; t += 32) {
    const uint32_t m = t / kCoinPieces, p = t % kCoinPieces;
    const size_t at = size_t{__shfl_sync(0xffffffff, offset, static_cast<int>(m))} + p;
    if (m < layout.valid()) first_row[at] = scratch[m * kCoinScratchStride + p];
  }
}

}  // namespace polykem::cuda
