// SPDX-License-Identifier: Apache-2.0
// Helpers for kernels in which a warp computes an item, or each of its lanes computes one.
#pragma once

#include <cstddef>
#include <cstdint>

namespace polykem::cuda {

__device__ __forceinline__ unsigned warp_lane() {
  return threadIdx.x % 32;
}

/// The item of a lane, in kernels whose blocks are one warp with an item in each lane. Lanes beyond the batch repeat
/// its last item and store nothing.
struct LaneItem {
  size_t first, count;
  unsigned lane;
  __device__ __forceinline__ explicit LaneItem(size_t items, size_t warp = blockIdx.x)
      : first(warp * 32), count(items), lane(threadIdx.x) {}
  /// Returns the item of lane m.
  __device__ __forceinline__ size_t of(unsigned m) const { return first + m < count ? first + m : count - 1; }
  __device__ __forceinline__ size_t index() const { return of(lane); }
  __device__ __forceinline__ bool valid() const { return first + lane < count; }
  /// Returns how many lanes of the warp have an item of their own.
  __device__ __forceinline__ unsigned valid_lanes() const {
    return static_cast<unsigned>(count - first < 32 ? count - first : 32);
  }
};

/// Returns the sum of x over the warp, in every lane.
__device__ __forceinline__ uint32_t warp_sum(uint32_t x) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  return __reduce_add_sync(0xffffffff, x);
#else
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2)
    x += __shfl_xor_sync(0xffffffff, x, distance);
  return x;
#endif
}

/// Reads the block's index again: a value that is read again takes no register in between.
__device__ __forceinline__ size_t block_again() {
  uint32_t block;
  asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(block));
  return block;
}
/// Reads the lane's index again, like block_again().
__device__ __forceinline__ unsigned lane_again() {
  unsigned lane;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}

}  // namespace polykem::cuda
