// SPDX-License-Identifier: Apache-2.0
// SHAKE128 and SHAKE256 of messages of any length on the device, one message per thread, the state in registers.
// [FIPS202]
#pragma once

#include "prim/keccak/cuda/keccak.cuh"

namespace polykem::cuda {

/// The rates in 64-bit words; kernels take one as a template parameter.
inline constexpr int kShake128Words = 21, kShake256Words = 17;

inline constexpr uint64_t kShakeSuffix = 0x1f, kShakeLastBit = uint64_t{1} << 63;

/// The shared memory of one warp that hashes long messages, in 32-bit words: the length of a row, then that of all 32
/// rows. A row's length is odd, so that 32 threads reading the same word of their own rows touch 32 banks.
template <int kRate>
inline constexpr int kShakeStride = 2 * kRate + 1;
template <int kRate>
inline constexpr int kShakeScratchWords = 32 * kShakeStride<kRate>;

/// The messages of a warp, each of `words` 64-bit words of any alignment in global memory, readable up to the next
/// multiple of 4 bytes. Lane m has the message at first + m * stride; lanes from `valid` > 0 on repeat the last one.
/// `stride` is a multiple of 4.
struct LaneMessages {
  const uint8_t* first;
  uint32_t stride, valid, words;

  /// Returns how many bytes behind a multiple of 4 all messages begin.
  __device__ __forceinline__ uint32_t skip() const {
    return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(first) & 3);
  }
  __device__ __forceinline__ const uint8_t* aligned(unsigned m) const {
    return first - skip() + size_t{min(m, valid - 1)} * stride;
  }
};

/// Begins to copy the aligned 32-bit words that block `block` of a warp's messages touches, one more than it has.
template <int kRate>
__device__ __forceinline__ void fetch_block(uint32_t* scratch, unsigned lane, uint32_t block,
                                            const LaneMessages& messages) {
  const uint32_t first_word = block * (2 * kRate), end = (messages.skip() + 8 * messages.words - 1) / 4 + 1;
  if (first_word + lane < end) {
    const uint8_t* from = messages.aligned(0) + size_t{4} * (first_word + lane);
#pragma unroll
    for (unsigned m = 0; m < 32; ++m) {
      begin_copy<4>(scratch + m * kShakeStride<kRate> + lane, from);
      if (m + 1 < messages.valid) from += messages.stride;
    }
  }
  const uint8_t* const own = messages.aligned(lane) + size_t{4} * first_word;
#pragma unroll
  for (unsigned at = 32; at <= 2 * kRate; ++at) {
    if (first_word + at < end) begin_copy<4>(scratch + lane * kShakeStride<kRate> + at, own + 4 * at);
  }
}

/// Absorbs 32 messages by one warp, each lane one. Afterwards the first block of output can be squeezed from `state`. A
/// message is that of `messages` followed by `tail_words` 64-bit words; tail(j) returns word j of this lane's tail.
/// `scratch` is kShakeScratchWords<kRate> words of shared memory of this warp.
template <int kRate, class Tail>
__device__ __forceinline__ void warp_absorb(uint64_t (&state)[25], uint32_t* scratch, unsigned lane,
                                            const LaneMessages& messages, uint32_t tail_words, Tail tail) {
  const uint32_t* const row = scratch + lane * kShakeStride<kRate>;
  const unsigned shift = 8 * messages.skip();
  const uint32_t words = messages.words, all = words + tail_words, blocks = all / kRate + 1;
#pragma unroll
  for (int j = 0; j < 25; ++j)
    state[j] = 0;
  fetch_block<kRate>(scratch, lane, 0, messages);
#pragma unroll 1
  for (uint32_t block = 0; block < blocks; ++block) {
    end_copies();
    __syncwarp();
    const bool whole = (block + 1) * kRate <= words;
#pragma unroll
    for (int j = 0; j < kRate; ++j) {
      const uint32_t at = block * kRate + j;
      uint64_t word = __funnelshift_r(row[2 * j], row[2 * j + 1], shift) |
                      (static_cast<uint64_t>(__funnelshift_r(row[2 * j + 1], row[2 * j + 2], shift)) << 32);
      if (!whole && at >= words) word = at < all ? tail(at - words) : at == all ? kShakeSuffix : 0;
      state[j] ^= word;
    }
    if (block == blocks - 1) state[kRate - 1] ^= kShakeLastBit;
    __syncwarp();
    if (block + 1 < blocks) fetch_block<kRate>(scratch, lane, block + 1, messages);
    keccak_f1600(state);
  }
}

/// Absorbs a message of less than a block: word(j) returns its 64-bit word j for j < kCount, suffix included and zero
/// behind it. The caller permutes the state.
template <int kRate, int kCount, class Word>
__device__ __forceinline__ void absorb_words(uint64_t (&state)[25], Word word) {
  static_assert(kCount <= kRate);
#pragma unroll
  for (int j = 0; j < 25; ++j)
    state[j] = j < kCount ? word(j) : 0;
  state[kRate - 1] ^= kShakeLastBit;
}

}  // namespace polykem::cuda
