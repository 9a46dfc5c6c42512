// SPDX-License-Identifier: Apache-2.0
// Packed polynomials of 256 coefficients, between records and the registers of 16 lanes.
#pragma once

#include "prim/ntt/cuda/ntt.cuh"
#include "prim/records/cuda/records.cuh"

namespace polykem::cuda {

/// Returns field number i, of kBits bits, of packed bytes of any alignment. Reads only words that hold a bit of it.
template <int kBits>
__device__ __forceinline__ uint32_t packed_field(const uint8_t* from, unsigned i) {
  const auto skip = static_cast<unsigned>(reinterpret_cast<uintptr_t>(from) & 3);
  const auto* words = reinterpret_cast<const uint32_t*>(from - skip);
  const unsigned bit = 8 * skip + kBits * i;
  const uint32_t low = words[bit / 32], high = bit % 32 + kBits > 32 ? words[bit / 32 + 1] : 0;
  return __funnelshift_r(low, high, bit) & ((1u << kBits) - 1);
}

/// Packs 16 fields below 2^kBits into 2 kBits bytes; a half word at the end may be left.
template <int kBits>
__device__ __forceinline__ void pack_fields(uint32_t (&words)[(kBits + 1) / 2], const Coefficients& fields) {
#pragma unroll
  for (uint32_t& word : words)
    word = 0;
#pragma unroll
  for (int r = 0; r < kLaneCoefficients; ++r) {
    const int bit = kBits * r;
    words[bit / 32] |= fields[r] << (bit % 32);
    if (bit % 32 + kBits > 32) words[bit / 32 + 1] |= fields[r] >> (32 - bit % 32);
  }
}

/// Packs the coefficients of 16 lanes, in rows, to 32 kBits bytes of shared memory, masked by `mask`. The lanes
/// synchronise before and afterwards.
template <int kBits>
__device__ __forceinline__ void pack_to_shared(uint32_t* scratch, const Coefficients& fields, unsigned l,
                                               uint32_t mask = 0xffffffff) {
  uint32_t words[(kBits + 1) / 2];
  pack_fields<kBits>(words, fields);
#pragma unroll
  for (uint32_t& word : words)
    word &= mask;
  __syncwarp();
  if constexpr (kBits % 2 == 0) {
#pragma unroll
    for (int w = 0; w < kBits / 2; ++w)
      scratch[kBits / 2 * l + w] = words[w];
  } else {
    auto* halves = reinterpret_cast<uint16_t*>(scratch) + kBits * l;
#pragma unroll
    for (int h = 0; h < kBits; ++h)
      halves[h] = static_cast<uint16_t>(words[h / 2] >> (16 * (h % 2)));
  }
  __syncwarp();
}

}  // namespace polykem::cuda
