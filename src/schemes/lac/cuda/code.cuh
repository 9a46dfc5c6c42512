// SPDX-License-Identifier: Apache-2.0
// The second part's noise with the code word, and the decoder. [LAC19]
#pragma once

#include "schemes/lac/bch/cuda/bch.cuh"
#include "schemes/lac/cuda/fixed_weight.cuh"

namespace polykem::lac::cuda {

/// Returns where byte i of a PRG's output lies in the keystream, see schemes/lac/prg.hpp, or -1 if it is zero.
template <class S, bool kMisplacesTail>
constexpr int noise2_byte(int i) {
  constexpr int kRest = S::kNoise2Bytes % 16, kWhole = S::kNoise2Bytes - kRest;
  if (!kMisplacesTail || kRest == 0) return i;
  constexpr int kFirst = kWhole / 16 - 1;
  if (i >= kWhole) return -1;
  return i >= kFirst && i < kFirst + kRest ? kWhole + i - kFirst : i;
}

/// Returns bytes i .. i + 3 of the PRG's output. Those beyond its end are zero.
template <class S, bool kMisplacesTail, int kWords>
__device__ __forceinline__ uint32_t noise2_word(const uint32_t (&stream)[kWords], int i) {
  uint32_t word = 0;
#pragma unroll
  for (int b = 0; b < 4; ++b) {
    const int at = i + b < S::kNoise2Bytes ? noise2_byte<S, kMisplacesTail>(i + b) : -1;
    if (at >= 0) word |= (stream[at / 4] >> (8 * (at % 4)) & 0xff) << (8 * b);
  }
  return word;
}

/// Returns the signs of 32 coefficients of e2, from `word` on: a mask of the coefficients 1 and one of the -1.
template <class S, bool kMisplacesTail, int kWords>
__device__ __forceinline__ uint2 noise2_signs(const uint32_t (&stream)[kWords], int word) {
  constexpr int kPart = S::kC2 / 8;
  const auto part = [&](int p) { return noise2_word<S, kMisplacesTail>(stream, p * kPart + 4 * word); };
  const uint32_t p0 = part(0), p1 = part(1);
  if constexpr (S::kParams.noise2 == Noise2::kQuarter) {
    return make_uint2(p0 & ~p1, p1 & ~p0);
  } else {  // (p0 - p1)(p2 - p3)
    const uint32_t p2 = part(2), p3 = part(3), some = (p0 ^ p1) & (p2 ^ p3), opposite = p1 ^ p3;
    return make_uint2(some & ~opposite, some & opposite);
  }
}

/// Computes the code word of m and the signs of e2. A thread computes an item.
template <class S, bool kMisplacesTail>
__global__ void __launch_bounds__(32) encode_kernel(Work work) {
  constexpr int kStreamWords = 4 * S::kNoise2Blocks;
  __shared__ uint32_t message[8][32];
  const LaneItem own(work.count);
  const size_t item = own.index();
  uint32_t m[8], parity[polykem::cuda::BchTables<S::kErrors>::kParityWords];
  work.m.load(m, item);
#pragma unroll
  for (int w = 0; w < 8; ++w)
    message[w][own.lane] = m[w];
  polykem::cuda::bch_encode<S::kErrors>(parity, [&](int w) { return message[w][own.lane]; });
  uint32_t stream[kStreamWords];
#pragma unroll
  for (int b = 0; b < S::kNoise2Blocks; ++b) {
    const uint4 block = work.stream.at(item, b);
    stream[4 * b] = block.x, stream[4 * b + 1] = block.y, stream[4 * b + 2] = block.z, stream[4 * b + 3] = block.w;
  }
  uint32_t code[S::kCodeWords];
#pragma unroll
  for (int w = 0; w < S::kCodeWords; ++w)
    code[w] = w < 8 ? m[w % 8] : parity[w < 8 ? 0 : w - 8];
  if (!own.valid()) return;
#pragma unroll
  for (int w = 0; w < S::kC2Words; ++w) {
    // The second copy of the code word begins within a word.
    constexpr int kShift = S::kCodeBits % 32;
    const int second = w - S::kCodeWords + 1;
    uint32_t bits = w < S::kCodeWords ? code[w < S::kCodeWords ? w : 0] : 0;
    if (S::kC2 > S::kCodeBits && second >= 0) {
      bits |= code[second >= 0 ? second : 0] << kShift;
      if (second > 0) bits |= code[second > 0 ? second - 1 : 0] >> (32 - kShift);
    }
    const uint2 signs = noise2_signs<S, kMisplacesTail>(stream, w);
    work.noise2.at(item, w) = make_uint4(signs.x, signs.y, bits, 0);
  }
}

/// Finds the message in the received word. A warp computes 32 items.
template <class S>
__global__ void __launch_bounds__(32) decode_kernel(Work work) {
  __shared__ polykem::cuda::BchScratch<S::kErrors> scratch;
  const LaneItem own(work.count);
  const auto* const word = reinterpret_cast<const uint32_t*>(work.code[own.index()]);
  const auto received = [word](int w) { return word[w]; };
  polykem::cuda::compute_syndromes(scratch, own.lane, received);
  polykem::cuda::find_locator(scratch, own.lane);
  polykem::cuda::find_errors(scratch, own.lane, [&](int w, uint32_t errors) {
    if (own.valid()) work.m.word(own.index(), w) = received(w) ^ errors;
  });
}

}  // namespace polykem::lac::cuda
