// SPDX-License-Identifier: Apache-2.0
// Random bytes on the device: item i of a batch gets SHAKE256(seed, i, "polykem" and a domain byte). The seed is fresh
// for every batch and comes from the operating system's entropy on the host.
#pragma once

#include "prim/keccak/cuda/keccak.cuh"

namespace polykem::cuda {

/// Which operation draws; keeps the streams of one seed apart.
enum class DrawDomain : uint8_t { keygen = 0, encaps = 1 };

/// Expands the seed for 32 items by one warp, one item a lane: `bytes` bytes of item m go to put(m, w, word), w
/// counting 32-bit words, in coalesced order; the last word may reach past `bytes`. put must be safe for every m in
/// 0..31.
template <class Put>
__device__ __forceinline__ void warp_draw(const uint32_t* seed, uint64_t item, DrawDomain domain, int bytes,
                                          uint32_t* stage, unsigned lane, Put put) {
  uint64_t state[25] = {};
#pragma unroll
  for (int j = 0; j < 4; ++j)
    state[j] = seed[2 * j] | (static_cast<uint64_t>(seed[2 * j + 1]) << 32);
  state[4] = item;
  state[5] = 0x006d656b796c6f70 | (static_cast<uint64_t>(domain) << 56);  // "polykem", then the domain
  state[6] = 0x1f;
  state[16] = 0x8000000000000000;
  const int words = (bytes + 3) / 4;
#pragma unroll 1
  for (int first = 0; first < words; first += kRateWords) {
    keccak_f1600(state);
#pragma unroll
    for (int j = 0; j < kRateWords / 2; ++j) {
      uint32_t* row = stage + lane * kStageStride + 2 * j;
      row[0] = static_cast<uint32_t>(state[j]);
      row[1] = static_cast<uint32_t>(state[j] >> 32);
    }
    __syncwarp();
#pragma unroll 2
    for (int t = static_cast<int>(lane); t < 32 * kRateWords; t += 32) {
      const int m = t / kRateWords, w = t % kRateWords;
      if (first + w < words) put(m, first + w, stage[m * kStageStride + w]);
    }
    __syncwarp();
  }
}

}  // namespace polykem::cuda
