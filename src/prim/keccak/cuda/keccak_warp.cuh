// SPDX-License-Identifier: Apache-2.0
// One Keccak state in a whole warp, for batches with too few messages for one in each thread: a permutation then has
// less latency. [FIPS202]
#pragma once

#include "prim/keccak/cuda/keccak.cuh"

namespace polykem::cuda {

/// A 64-bit word as it was loaded. The shift that its alignment needs waits until the word is used, so that a kernel
/// goes on before the word arrives.
struct LoadedWord {
  uint32_t parts[3], shift;

  __device__ __forceinline__ LoadedWord(uint64_t word)  // NOLINT(google-explicit-constructor): a word is one, too
      : parts{static_cast<uint32_t>(word), static_cast<uint32_t>(word >> 32), 0}, shift(0) {}
  /// Loads word `at` of bytes of any alignment in global memory, readable up to the next multiple of 4.
  __device__ __forceinline__ LoadedWord(const uint8_t* bytes, uint32_t at) {
    const auto skip = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(bytes) & 3);
    const auto* words = reinterpret_cast<const uint32_t*>(bytes - skip) + 2 * size_t{at};
    parts[0] = words[0], parts[1] = words[1], parts[2] = words[skip > 0 ? 2 : 1];
    shift = 8 * skip;
  }
  __device__ __forceinline__ uint64_t value() const {
    return __funnelshift_r(parts[0], parts[1], shift) |
           static_cast<uint64_t>(__funnelshift_r(parts[1], parts[2], shift)) << 32;
  }
};

/// Returns word `at` of bytes that LoadedWord can load.
__device__ __forceinline__ uint64_t load_word64(const uint8_t* bytes, uint32_t at) {
  return LoadedWord(bytes, at).value();
}

/// Keccak-f[1600] on one state by a warp. Lane x + 5 y < 25 has word (x, y) of the state; other lanes have none.
class WarpKeccak {
 public:
  __device__ __forceinline__ explicit WarpKeccak(unsigned lane) {
    const unsigned x = lane % 5, y = lane / 5 % 5;
#pragma unroll
    for (unsigned k = 0; k < 4; ++k)
      column_[k] = x + 5 * ((y + k + 1) % 5);
    before_ = (x + 4) % 5 + 5 * y;
    after_ = (x + 1) % 5 + 5 * y;
    // After pi, (X, Y) has what was at ((X + 3 Y) mod 5, X). [FIPS202, 3.2.3]
#pragma unroll
    for (unsigned k = 0; k < 3; ++k) {
      const unsigned to = (x + k) % 5;
      row_[k] = (to + 3 * y) % 5 + 5 * to;
    }
#pragma unroll
    for (int k = 0; k < 25; ++k)
      rotation_ = lane == static_cast<unsigned>(k) ? keccak_rotation(k) : rotation_;
    first_ = lane == 0 ? 0xffffffff : 0;
    first_column_ = x == 0 ? 0xffffffff : 0;
  }

  /// Returns the lane's word after Keccak-f[1600]. The critical path of a round is three shuffles and what is between
  /// them, so iota waits for the next round's theta, where a lane adds it to its own word while it waits for those of
  /// other lanes.
  __device__ __forceinline__ uint64_t permuted(uint64_t state) const {
    auto low = static_cast<uint32_t>(state), high = static_cast<uint32_t>(state >> 32);
    uint64_t constant = 0;
#pragma unroll 2
    for (int round = 0; round < 24; ++round) {
      uint32_t parity[2] = {low, high};
      add_column(parity[0], low, static_cast<uint32_t>(constant));
      add_column(parity[1], high, static_cast<uint32_t>(constant >> 32));
      theta_rho(low, high, parity);
      low = chi(low);
      high = chi(high);
      constant = kKeccakRoundConstants[round];
    }
    low ^= static_cast<uint32_t>(constant) & first_;
    high ^= static_cast<uint32_t>(constant >> 32) & first_;
    return low | static_cast<uint64_t>(high) << 32;
  }

  /// Absorbs a message of `words` 64-bit words, then `suffix`, padded for a rate of kRate words. Returns the lane's
  /// word of the state from which the first block of output is squeezed. word(at) returns word `at` < words as a
  /// uint64_t or LoadedWord; one lane calls it.
  template <int kRate, class Word>
  __device__ __forceinline__ uint64_t absorbed(unsigned lane, uint32_t words, uint64_t suffix, Word word) const {
    const uint32_t last = words / kRate;
    const auto block_word = [&](uint32_t block) {
      const uint32_t at = block * kRate + lane;
      LoadedWord own(0);
      if (lane < kRate && at < words) own = word(at);
      if (lane < kRate && at == words) own = suffix;
      return own;
    };
    LoadedWord next = block_word(0);
    uint64_t state = 0;
#pragma unroll 1
    for (uint32_t block = 0; block < last; ++block) {
      state ^= next.value();
      next = block_word(block + 1);  // arrives while this block is hashed
      state = permuted(state);
    }
    state ^= next.value();
    if (lane == kRate - 1) state ^= uint64_t{1} << 63;
    return permuted(state);
  }

 private:
  __device__ __forceinline__ static uint32_t from(uint32_t half, unsigned lane) {
    return __shfl_sync(0xffffffff, half, lane);
  }

  /// Adds the other words of the column to `parity`, which is `own` before, and adds iota to both.
  __device__ __forceinline__ void add_column(uint32_t& parity, uint32_t& own, uint32_t constant) const {
    const uint32_t others[4] = {from(own, column_[0]), from(own, column_[1]), from(own, column_[2]),
                                from(own, column_[3])};
    parity ^= constant & first_column_;
    asm("" : "+r"(parity));  // keeps the compiler from adding iota last
    own ^= constant & first_;
    parity ^= (others[0] ^ others[1] ^ others[2]) ^ others[3];
  }

  __device__ __forceinline__ void theta_rho(uint32_t& low, uint32_t& high, const uint32_t (&parity)[2]) const {
    const uint32_t after_low = from(parity[0], after_), after_high = from(parity[1], after_);
    low ^= from(parity[0], before_) ^ __funnelshift_l(after_high, after_low, 1);
    high ^= from(parity[1], before_) ^ __funnelshift_l(after_low, after_high, 1);
    const bool swap = rotation_ >= 32;
    const uint32_t first = swap ? high : low, second = swap ? low : high;
    low = __funnelshift_l(second, first, rotation_);
    high = __funnelshift_l(first, second, rotation_);
  }

  /// Applies pi and chi to a half of the lane's word.
  __device__ __forceinline__ uint32_t chi(uint32_t half) const {
    return from(half, row_[0]) ^ (~from(half, row_[1]) & from(half, row_[2]));
  }

  unsigned column_[4], row_[3], before_, after_, rotation_ = 0;
  uint32_t first_, first_column_;  ///< masks: all ones if this is lane 0, if x is 0
};

/// Stores `word` as word `at` of `bytes`, which may have any alignment.
__device__ __forceinline__ void store_word64(uint8_t* bytes, uint32_t at, uint64_t word) {
#pragma unroll
  for (unsigned b = 0; b < 8; ++b)
    bytes[8 * size_t{at} + b] = static_cast<uint8_t>(word >> (8 * b));
}

}  // namespace polykem::cuda
