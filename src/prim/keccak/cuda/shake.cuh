// SPDX-License-Identifier: Apache-2.0
// SHAKE128 and SHAKE256 of messages of any length on the device, one message per thread, the state in registers.
// [FIPS202]
#pragma once

#include "prim/keccak/cuda/keccak.cuh"

namespace polykem::cuda {

/// The rate in 64-bit words; kernels take it as a template parameter.
inline constexpr int kShake128Words = 21, kShake256Words = 17;

inline constexpr uint64_t kShakeSuffix = 0x1f, kShakeLastBit = uint64_t{1} << 63;

/// Shared memory of one warp that hashes long messages, in 32-bit words. A row is odd, so that 32 threads reading the
/// same word of their own rows touch 32 banks.
template <int kRate>
inline constexpr int kShakeStride = 2 * kRate + 1;
template <int kRate>
inline constexpr int kShakeStageWords = 32 * kShakeStride<kRate>;

/// Begins to copy the aligned 32-bit words that block `block` of 32 messages touches, one more than it has.
template <int kRate, class Record>
__device__ __forceinline__ void fetch_block(uint32_t* stage, unsigned lane, uint32_t block, uint32_t words,
                                            Record record) {
  const auto put = [&](unsigned m, unsigned at) {
    const uint8_t* const bytes = record(m);
    const auto skip = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(bytes) & 3);
    const uint32_t word = block * (2 * kRate) + at;
    if (word > (skip + 8 * words - 1) / 4) return;
    begin_copy<4>(stage + m * kShakeStride<kRate> + at, bytes - skip + size_t{4} * word);
  };
#pragma unroll 8
  for (unsigned m = 0; m < 32; ++m)
    put(m, lane);
#pragma unroll
  for (unsigned at = 32; at <= 2 * kRate; ++at)
    put(lane, at);
}

/// Absorbs 32 messages by one warp, each lane one; afterwards `state` is that of which the first block of output is
/// squeezed. A message is `words` 64-bit words of any alignment in global memory, readable up to the next multiple of 4
/// bytes, and then `tail_words` words. record(m): the address of lane m's message, which any lane may ask for; tail(j):
/// word j of this lane's tail. stage: kShakeStageWords<kRate> words of shared memory of this warp.
template <int kRate, class Record, class Tail>
__device__ __forceinline__ void warp_absorb(uint64_t (&state)[25], uint32_t* stage, unsigned lane, uint32_t words,
                                            uint32_t tail_words, Record record, Tail tail) {
  const uint32_t* const row = stage + lane * kShakeStride<kRate>;
  const auto shift = static_cast<unsigned>(8 * (reinterpret_cast<uintptr_t>(record(lane)) & 3));
  const uint32_t all = words + tail_words, blocks = all / kRate + 1;
#pragma unroll
  for (int j = 0; j < 25; ++j)
    state[j] = 0;
  fetch_block<kRate>(stage, lane, 0, words, record);
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
    if (block + 1 < blocks) fetch_block<kRate>(stage, lane, block + 1, words, record);
    keccak_f1600(state);
  }
}

/// Absorbs a message of less than a block: word(j) is its 64-bit word j for j < kCount, suffix included and zero behind
/// it. The caller permutes.
template <int kRate, int kCount, class Word>
__device__ __forceinline__ void absorb_words(uint64_t (&state)[25], Word word) {
  static_assert(kCount <= kRate);
#pragma unroll
  for (int j = 0; j < 25; ++j)
    state[j] = j < kCount ? word(j) : 0;
  state[kRate - 1] ^= kShakeLastBit;
}

}  // namespace polykem::cuda
