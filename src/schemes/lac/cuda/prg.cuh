// SPDX-License-Identifier: Apache-2.0
// The PRG, and a, which it makes from a public seed. [LAC19]
#pragma once

#include "prim/aes/cuda/aes256_sliced.cuh"
#include "schemes/lac/cuda/work.cuh"
#include "schemes/lac/sha256/cuda/sha256.cuh"

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

struct ToRows {
  Rows out;
  __device__ __forceinline__ void store(size_t item, uint32_t, int block, uint4 words) const {
    reinterpret_cast<uint4*>(out[item])[block] = words;
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
    polykem::cuda::expand_aes256_keys(round_keys + g * kAesKeyWords, key, lane);
  }
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

/// Replaces the bytes of a that are not below q by those of hashes of the seed. All of it is public. A thread computes
/// a key.
template <int kN, class Keys>
__global__ void __launch_bounds__(32) reject_a_kernel(Rows a, Keys keys, size_t count) {
  __shared__ uint32_t spares[32 * 9];
  const LaneItem own(count);
  uint32_t* const spare = spares + 9 * own.lane;
  uint32_t hash[8];
  keys.load(hash, own.index(), 0);
  if (!own.valid()) return;
  int used = kSeedBytes;
  const auto next = [&] {
    if (used == static_cast<int>(kSeedBytes)) {
      polykem::cuda::sha256_of_digest(hash, hash);
#pragma unroll
      for (int w = 0; w < 8; ++w)
        spare[w] = hash[w];
      used = 0;
    }
    return static_cast<uint32_t>(reinterpret_cast<const uint8_t*>(spare)[used++]);
  };
  auto* const row = reinterpret_cast<uint4*>(a[own.index()]);
  uint64_t unusual = 0;  // pieces of 16 bytes that have such bytes
#pragma unroll 8
  for (int piece = 0; piece < kN / 16; ++piece) {
    const uint4 x = row[piece];
    const uint32_t any = bytes_from_q(x.x) | bytes_from_q(x.y) | bytes_from_q(x.z) | bytes_from_q(x.w);
    unusual |= static_cast<uint64_t>(any != 0) << piece;
  }
#pragma unroll 1
  for (; unusual != 0; unusual &= unusual - 1) {
    auto* const words = reinterpret_cast<uint32_t*>(row + __ffsll(static_cast<long long>(unusual)) - 1);
#pragma unroll 1
    for (int w = 0; w < 4; ++w) {
      uint32_t word = words[w];
      if (bytes_from_q(word) == 0) continue;
#pragma unroll 1
      for (int shift = 0; shift < 32; shift += 8) {
        uint32_t byte = word >> shift & 0xff;
        while (byte >= kQ)
          byte = next();
        word = (word & ~(0xffu << shift)) | byte << shift;
      }
      words[w] = word;
    }
  }
}

}  // namespace polykem::lac::cuda
