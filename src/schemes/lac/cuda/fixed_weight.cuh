// SPDX-License-Identifier: Apache-2.0
// Polynomials of fixed weight, in constant time, one by each thread; schemes/lac/fixed_weight.hpp explains how.
// Positions are bits of registers. [LAC19]
#pragma once

#include "schemes/lac/cuda/work.cuh"
#include "schemes/lac/sha256/cuda/sha256.cuh"

namespace polykem::lac::cuda {

/// Position p modulo 32 kWords of a set: word 4 j + k is bit[k] chosen[j]. The words are products, because most of the
/// work is logic operations, and multiplications have units of their own.
template <int kWords>
struct Position {
  uint32_t bit[4], chosen[kWords / 4];  ///< `chosen`: 0 or 1

  __device__ __forceinline__ explicit Position(uint32_t p) {
    const uint32_t low = p & 127, high = p >> 4 & (2 * kWords - 8);  // 8 j
#pragma unroll
    for (int k = 0; k < 4; ++k)
      bit[k] = one_at(low - 32 * k);
#pragma unroll
    for (int half = 0; half < kWords / 16; ++half) {
      const uint32_t bytes = one_at(high - 32 * half);
#pragma unroll
      for (int j = 0; j < 4; ++j)
        chosen[4 * half + j] = __dp4a(bytes, 1u << (8 * j), 0u);  // byte j
    }
  }
  /// Returns 2^n, or 0 if n is not below 32.
  static __device__ __forceinline__ uint32_t one_at(uint32_t n) {
    return __funnelshift_lc(0, 1, n);
  }
  __device__ __forceinline__ uint32_t word(int w) const {
    return bit[w % 4] * chosen[w / 4];
  }
};

/// A set of positions below 32 kWords.
template <int kWords>
struct PositionSet {
  static_assert(kWords == 16 || kWords == 32);
  uint32_t at[kWords];

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (uint32_t& word : at)
      word = 0;
  }
  /// Adds the positions of two words of 16 bits.
  __device__ __forceinline__ void add_pair(uint32_t pair) {
    const Position<kWords> first(pair), second(pair >> 16);
#pragma unroll
    for (int w = 0; w < kWords; ++w)
      at[w] |= first.word(w) | second.word(w);
  }
  /// Returns how many positions this and `more` have together.
  __device__ __forceinline__ uint32_t count_with(const PositionSet& more) const {
    uint32_t sum = 0;
#pragma unroll
    for (int w = 0; w < kWords; ++w)
      sum += static_cast<uint32_t>(__popc(at[w] | more.at[w]));
    return sum;
  }
};

/// The first kLimit different positions among words that are given in order.
template <int kWords, uint32_t kLimit>
struct Selection {
  PositionSet<kWords> positions;  ///< at most kLimit to begin with
  uint32_t crossing[8];           ///< the hash during which the limit is reached
  uint32_t full;                  ///< all ones once that hash was seen

  __device__ __forceinline__ void start() {
#pragma unroll
    for (uint32_t& word : crossing)
      word = 0;
    full = 0;
  }

  /// Takes the next hash of the chain, with the positions of its words: takes all, or, if they are too many, none and
  /// notes the hash.
  __device__ __forceinline__ void take_next_hash(const uint32_t (&hash)[8], const PositionSet<kWords>& more) {
    const uint32_t over = 0u - ((kLimit - positions.count_with(more)) >> 31), first = over & ~full;
    full |= over;
#pragma unroll
    for (int w = 0; w < 8; ++w)
      crossing[w] = (hash[w] & first) | (crossing[w] & ~first);
#pragma unroll
    for (int w = 0; w < kWords; ++w)
      positions.at[w] |= more.at[w] & ~full;
  }

  /// Takes as many words of the noted hash as there are positions left.
  __device__ __forceinline__ void finish() {
    uint32_t left = kLimit - positions.count_with(positions);
#pragma unroll 1
    for (int i = 0; i < 16; ++i) {
      const Position<kWords> position(crossing[0]);
      const uint32_t wanted = full & (0u - ((0u - left) >> 31));
      uint32_t fresh = 0;
#pragma unroll
      for (int w = 0; w < kWords; ++w) {
        const uint32_t one = position.word(w);
        fresh |= one & ~positions.at[w];
        positions.at[w] |= one & wanted;
      }
      left -= (0u - ((fresh | (0u - fresh)) >> 31)) & wanted & 1;
#pragma unroll
      for (int w = 0; w < 8; ++w)  // the next word
        crossing[w] = __funnelshift_r(crossing[w], w < 7 ? crossing[(w + 1) % 8] : 0, 16);
    }
  }

  /// Returns 1 if the words sufficed, else 0.
  __device__ __forceinline__ uint32_t complete() const {
    return (full & 1) | (positions.count_with(positions) == kLimit ? 1 : 0);
  }
};

/// Samples s and e, or r and e1, from the PRG's words and the chains of their seeds, of which the first is seed
/// `first_seed`. A thread samples a polynomial.
template <class S, int kHashes = S::kChainHashes>
__global__ void __launch_bounds__(32, S::kN == 512 ? 16 : 10) sample_fixed_kernel(Work work, int first_seed) {
  constexpr int kWords = S::kN / 32, kHalf = S::kPositionBlocks / 2;
  const size_t padded = groups_of(work.count) * kGroup, thread = blockIdx.x * kGroup + warp_lane();
  const int which = thread < padded ? 0 : 1;
  const size_t item = which == 0 ? thread : thread - padded;
  Selection<kWords, S::kWeight> plus;
  Selection<kWords, 2 * S::kWeight> all;
  plus.start(), all.start();
  all.positions.clear();
#pragma unroll 1
  for (int part = 0; part < 2; ++part) {
#pragma unroll 1
    for (int b = 0; b < kHalf; ++b) {
      const uint4 block = work.positions.at(item, S::kPositionBlocks * which + kHalf * part + b);
      all.positions.add_pair(block.x), all.positions.add_pair(block.y);
      all.positions.add_pair(block.z), all.positions.add_pair(block.w);
    }
    if (part == 0) plus.positions = all.positions;
  }
  uint32_t hash[8];
  work.seeds.load(hash, item, 2 * (first_seed + which));
#pragma unroll 1
  for (int hashes = 1;; ++hashes) {
    polykem::cuda::sha256_of_digest(hash, hash);
    PositionSet<kWords> more;
    more.clear();
#pragma unroll
    for (const uint32_t pair : hash)
      more.add_pair(pair);
    plus.take_next_hash(hash, more);
    all.take_next_hash(hash, more);
    // `all` has 2 w positions, of which at most w are not tried for `plus`, so `plus` has its w too.
    if (hashes >= kHashes && __all_sync(0xffffffff, all.complete() != 0)) break;
  }
  plus.finish();
  all.finish();
  const auto minus = [&](int w) { return all.positions.at[w] & ~plus.positions.at[w]; };
#pragma unroll
  for (int w = 0; w < kWords; w += 2)
    // The noise of all items follows their secrets.
    work.secret.at(thread, w / 2) = make_uint4(plus.positions.at[w], minus(w), plus.positions.at[w + 1], minus(w + 1));
}

}  // namespace polykem::lac::cuda
