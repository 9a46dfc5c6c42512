// SPDX-License-Identifier: Apache-2.0
// The PRG under secret keys. [LAC19]
#pragma once

#include "prim/aes/cuda/aes256_sliced.cuh"
#include "schemes/lac/cuda/work.cuh"

namespace polykem::lac::cuda {

/// Keys that follow one another from block `first` on: one for each stream of an item.
struct BlockKeys {
  ItemBlocks seeds;
  int first;
  __device__ __forceinline__ void load(uint32_t (&key)[8], size_t item, uint32_t stream) const {
    seeds.load(key, item, first + 2 * static_cast<int>(stream));
  }
};

/// Keys that are the first 32 bytes of records.
struct RecordKeys {
  Records records;
  __device__ __forceinline__ void load(uint32_t (&key)[8], size_t item, uint32_t) const {
#pragma unroll
    for (int w = 0; w < 8; ++w)
      key[w] = record_word(records[item], w, kSeedBytes);
  }
};

/// Stores streams one after the other in an item's blocks.
template <int kBlocks>
struct ToBlocks {
  ItemBlocks out;
  __device__ __forceinline__ void store(size_t item, uint32_t stream, int block, uint4 words) const {
    out.at(item, kBlocks * static_cast<int>(stream) + block) = words;
  }
};

/// The number of groups of 32 items for whose blocks one warp has threads.
template <int kBlocks>
inline constexpr int kPrgGroups = kBlocks < 32 ? 32 / kBlocks : 1;

/// The share of this thread: a group of 32 items, one of their streams, and its first block.
template <int kBlocks>
struct PrgAssignment {
  uint32_t group, stream, block;
  size_t first_item;
  __device__ __forceinline__ explicit PrgAssignment(uint32_t groups)
      : group(static_cast<uint32_t>(block_again()) * kPrgGroups<kBlocks> + lane_again() / kBlocks),
        stream(group / groups),
        block(lane_again() % kBlocks),
        first_item(group % groups * kGroup) {}
};

/// Makes kBlocks blocks of keystream for each of `streams` keys of each item. Blocks of one warp; registers for eight
/// of them.
template <int kBlocks, class Keys, class Out>
__global__ void __launch_bounds__(32, 8) prg_kernel(Keys keys, Out out, size_t count, uint32_t streams) {
  using polykem::cuda::kAesKeyWords;
  constexpr int kGroups = kPrgGroups<kBlocks>;
  __shared__ alignas(16) uint32_t round_keys[kGroups * kAesKeyWords];
  const unsigned lane = warp_lane();
  const auto groups = static_cast<uint32_t>(groups_of(count));
  const uint32_t all = groups * streams, first = blockIdx.x * kGroups;
#pragma unroll 1
  for (uint32_t g = 0; g < kGroups && first + g < all; ++g) {
    const size_t item = (first + g) % groups * kGroup + lane;
    uint32_t key[8];
    keys.load(key, item < count ? item : count - 1, (first + g) / groups);
    polykem::cuda::begin_aes256_keys(round_keys + g * kAesKeyWords, key, lane);
  }
  __syncwarp();
  polykem::cuda::extend_aes256_keys<kGroups>(round_keys, lane);
  __syncwarp();
  if (PrgAssignment<kBlocks>(groups).group >= all || lane / kBlocks >= kGroups) return;
#pragma unroll 1
  for (uint32_t round = 0; round < kBlocks; round += 32) {
    polykem::cuda::AesState state;
    polykem::cuda::aes256_counter_block(state, round_keys + lane_again() / kBlocks * kAesKeyWords,
                                        round + lane_again() % kBlocks);
    const PrgAssignment<kBlocks> assigned(groups);  // computed again: there are no registers to keep it in
#pragma unroll
    for (int i = 0; i < 32; ++i)
      out.store(assigned.first_item + i, assigned.stream, static_cast<int>(round + assigned.block),
                make_uint4(state[0][i], state[1][i], state[2][i], state[3][i]));
  }
}

/// Returns bit 7 of each byte that is not below q.
__device__ __forceinline__ uint32_t bytes_from_q(uint32_t x) {
  return ((x & 0x7f7f7f7f) + 0x01010101 * (256 - kQ)) & x & 0x80808080;
}

}  // namespace polykem::lac::cuda
