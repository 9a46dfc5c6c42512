// SPDX-License-Identifier: Apache-2.0
// The data that the kernels of one batch work on.
#pragma once

#include <cstddef>
#include <cstdint>

#include "prim/cuda/warp.cuh"
#include "prim/records/cuda/items.cuh"
#include "schemes/lac/cuda/sets.hpp"

namespace polykem::lac::cuda {

using polykem::cuda::block_again;
using polykem::cuda::lane_again;
using polykem::cuda::LaneItem;
using polykem::cuda::record_word;
using polykem::cuda::Records;
using polykem::cuda::Rows;
using polykem::cuda::warp_lane;

/// The number of items whose words lie side by side, so that a thread per item reads and writes beside its neighbours,
/// and a thread that makes the same block of 32 items writes 512 bytes at a time.
inline constexpr size_t kGroup = 32;

constexpr size_t groups_of(size_t items) {
  return (items + kGroup - 1) / kGroup;
}

/// `blocks` blocks of 16 bytes of each item. There is memory for whole groups.
struct ItemBlocks {
  uint4* base;
  uint32_t blocks;

  __device__ __forceinline__ uint4& at(size_t item, int block) const {
    return base[(item / kGroup * blocks + block) * kGroup + item % kGroup];
  }
  /// Returns bytes 4 w .. 4 w + 3 of an item.
  __device__ __forceinline__ uint32_t& word(size_t item, int w) const {
    return reinterpret_cast<uint32_t*>(&at(item, w / 4))[w % 4];
  }
  /// Loads 32 bytes from block `first` on.
  __device__ __forceinline__ void load(uint32_t (&words)[8], size_t item, int first = 0) const {
    const uint4 low = at(item, first), high = at(item, first + 1);
    words[0] = low.x, words[1] = low.y, words[2] = low.z, words[3] = low.w;
    words[4] = high.x, words[5] = high.y, words[6] = high.z, words[7] = high.w;
  }
  __device__ __forceinline__ void store(const uint32_t (&words)[8], size_t item) const {
    at(item, 0) = make_uint4(words[0], words[1], words[2], words[3]);
    at(item, 1) = make_uint4(words[4], words[5], words[6], words[7]);
  }
};

/// The records of a batch and the intermediates of its operation, nullptr where the operation has none. Rows are
/// aligned to 16 bytes.
struct Work {
  size_t count;
  const uint32_t* coin_seed;
  const uint8_t* coins;
  Records pk, sk, ct;
  uint8_t *pk_out, *sk_out, *ct_out, *ss_out;
  ItemBlocks seed;       ///< the seed of a key pair, or the hash of m
  ItemBlocks seeds;      ///< the seeds of a, s, e; or of r, e1, e2
  ItemBlocks m;          ///< the message
  ItemBlocks rejected;   ///< SHA-256(s)
  ItemBlocks positions;  ///< the PRG's words of s, then of e; or of r and e1
  ItemBlocks stream;     ///< the PRG's bytes of e2
  Rows a;
  /// s or r, e or e1. A block has 64 coefficients: masks of the first 32 that are 1, that are -1, and of the others.
  ItemBlocks secret, noise;
  /// e2 + 125 bits. A block has 32 coefficients: masks of those with 1 and with -1 from e2, and the bits.
  ItemBlocks noise2;
  Rows code;       ///< the received word, 64 bytes
  uint32_t* fail;  ///< all ones where the ciphertext is rejected
};

}  // namespace polykem::lac::cuda
