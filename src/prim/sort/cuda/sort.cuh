// SPDX-License-Identifier: Apache-2.0
// A sorting network across the lanes of one warp: the same compare-exchanges whatever the keys are.
#pragma once

#include <cstdint>

namespace polykem::cuda {

/// Keeps the smaller of the two keys where `upper` is false, else the larger.
__device__ __forceinline__ int32_t keep(int32_t mine, int32_t other, bool upper) {
  const int32_t low = min(mine, other), high = max(mine, other);
  return upper ? high : low;
}

__device__ __forceinline__ void order(int32_t& low, int32_t& high) {
  const int32_t smaller = min(low, high);
  high = max(low, high);
  low = smaller;
}

/// Merges runs of kSize keys, each made of two sorted halves, inside every lane.
template <int kSize, int kRegs>
__device__ __forceinline__ void merge_in_lane(int32_t (&x)[kRegs]) {
#pragma unroll
  for (int base = 0; base < kRegs; base += kSize) {
#pragma unroll
    for (int i = 0; i < kSize / 2; ++i)
      order(x[base + i], x[base + kSize - 1 - i]);
  }
#pragma unroll
  for (int distance = kSize / 4; distance > 0; distance /= 2) {
#pragma unroll
    for (int i = 0; i < kRegs; ++i) {
      if ((i & distance) == 0) order(x[i], x[i + distance]);
    }
  }
}

template <int kSize, int kRegs>
__device__ __forceinline__ void sort_in_lane(int32_t (&x)[kRegs]) {
  if constexpr (kSize <= kRegs) {
    merge_in_lane<kSize>(x);
    sort_in_lane<2 * kSize>(x);
  }
}

/// Merges two sorted halves of kLanes/2 lanes each.
template <int kLanes, int kRegs>
__device__ __forceinline__ void merge_across(int32_t (&x)[kRegs], unsigned lane) {
  const bool upper_half = (lane & (kLanes / 2)) != 0;
#pragma unroll
  for (int i = 0; i < kRegs / 2; ++i) {
    const int32_t front = __shfl_xor_sync(0xffffffff, x[kRegs - 1 - i], kLanes - 1);
    const int32_t back = __shfl_xor_sync(0xffffffff, x[i], kLanes - 1);
    x[i] = keep(x[i], front, upper_half);
    x[kRegs - 1 - i] = keep(x[kRegs - 1 - i], back, upper_half);
  }
#pragma unroll
  for (int distance = kLanes / 4; distance > 0; distance /= 2) {
    const bool upper = (lane & distance) != 0;
#pragma unroll
    for (int i = 0; i < kRegs; ++i)
      x[i] = keep(x[i], __shfl_xor_sync(0xffffffff, x[i], distance), upper);
  }
#pragma unroll
  for (int distance = kRegs / 2; distance > 0; distance /= 2) {
#pragma unroll
    for (int i = 0; i < kRegs; ++i) {
      if ((i & distance) == 0) order(x[i], x[i + distance]);
    }
  }
}

/// Sorts 32 * kRegs keys in ascending order (signed) by one whole warp; key lane * kRegs + i is x[i] of that lane.
/// Bitonic merges with a mirrored first step, so that every run is ascending. kRegs: a power of two.
template <int kRegs>
__device__ __forceinline__ void warp_sort(int32_t (&x)[kRegs], unsigned lane) {
  static_assert((kRegs & (kRegs - 1)) == 0 && kRegs >= 2);
  sort_in_lane<2>(x);
  merge_across<2>(x, lane);
  merge_across<4>(x, lane);
  merge_across<8>(x, lane);
  merge_across<16>(x, lane);
  merge_across<32>(x, lane);
}

}  // namespace polykem::cuda
