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
  bool valid;
  __device__ __forceinline__ explicit PrgAssignment(uint32_t groups, uint32_t streams)
      : group(static_cast<uint32_t>(block_again()) * kPrgGroups<kBlocks> + lane_again() / kBlocks),
        stream(group / groups),
        block(lane_again() % kBlocks),
        first_item(group % groups * kGroup),
        valid(group < groups * streams && lane_again() / kBlocks < kPrgGroups<kBlocks>) {}
};

/// Makes kBlocks blocks of keystream for each of `streams` keys of each item. Blocks of one warp; registers for eight
/// of them, and shared memory too, if those of more than four groups are made in two parts.
template <int kBlocks, class Keys, class Out>
__global__ void __launch_bounds__(32, 8) prg_kernel(Keys keys, Out out, size_t count, uint32_t streams) {
  constexpr int kGroups = kPrgGroups<kBlocks>, kParts = kGroups > 4 ? 2 : 1;
  using RoundKeys = polykem::cuda::SlicedAesKeys<kParts>;
  __shared__ alignas(16) uint32_t round_keys[kGroups * RoundKeys::kWords];
  const unsigned lane = warp_lane();
  const auto groups = static_cast<uint32_t>(groups_of(count));
  const uint32_t all = groups * streams, first = blockIdx.x * kGroups;
#pragma unroll 1
  for (uint32_t g = 0; g < kGroups && first + g < all; ++g) {
    const size_t item = (first + g) % groups * kGroup + lane;
    uint32_t key[8];
    keys.load(key, item < count ? item : count - 1, (first + g) / groups);
    RoundKeys::begin(round_keys + g * RoundKeys::kWords, key, lane);
  }
  __syncwarp();
  const auto own_keys = [&] {
    return round_keys + min(lane_again() / kBlocks, static_cast<unsigned>(kGroups) - 1) * RoundKeys::kWords;
  };
  if constexpr (kParts == 1) {
    RoundKeys::template extend<kGroups>(round_keys, 0, lane);
    __syncwarp();
  }
#pragma unroll 1
  for (uint32_t more = 0; more < kBlocks; more += 32) {
    polykem::cuda::AesState state;
    polykem::cuda::begin_aes256_block(state, own_keys(), more + lane_again() % kBlocks);
#pragma unroll 1
    for (int round = 1; round <= polykem::cuda::kAes256Rounds; ++round) {
      if (kParts == 2 && round % 7 == 1) {
        __syncwarp();
        RoundKeys::template extend<kGroups>(round_keys, round / 8, lane_again());
        __syncwarp();
      }
      polykem::cuda::aes256_round(state, own_keys() + RoundKeys::of_round(round), round);
    }
    polykem::cuda::end_aes256_block(state);
    const PrgAssignment<kBlocks> assigned(groups, streams);  // computed now: there are no registers to keep it in
    if (!assigned.valid) return;
#pragma unroll
    for (int i = 0; i < 32; ++i)
      out.store(assigned.first_item + i, assigned.stream, static_cast<int>(more + assigned.block),
                make_uint4(state[0][i], state[1][i], state[2][i], state[3][i]));
  }
}

/// Returns bit 7 of each byte that is not below q.
__device__ __forceinline__ uint32_t bytes_from_q(uint32_t x) {
  return ((x & 0x7f7f7f7f) + 0x01010101 * (256 - kQ)) & x & 0x80808080;
}

}  // namespace polykem::lac::cuda
