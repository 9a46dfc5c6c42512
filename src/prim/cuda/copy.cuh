// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies from global to shared memory.
#pragma once

#include <cstdint>

namespace polykem::cuda {

/// Begins to copy kBytes (4 or 16) bytes; both addresses are aligned to kBytes. On compute capability 7.5 the copy is
/// synchronous.
template <int kBytes>
__device__ __forceinline__ void begin_copy(void* shared, const void* global) {
  static_assert(kBytes == 4 || kBytes == 16);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  if constexpr (kBytes == 4) {
    *static_cast<uint32_t*>(shared) = *static_cast<const uint32_t*>(global);
  } else {
    *static_cast<uint4*>(shared) = *static_cast<const uint4*>(global);
  }
#else
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;"
               :
               : "r"(static_cast<uint32_t>(__cvta_generic_to_shared(shared))), "l"(global), "n"(kBytes)
               : "memory");
#endif
}

/// Begins to copy 16 bytes through the L2 cache alone, for data that other blocks read too and this multiprocessor
/// hardly ever again. Addresses are aligned, and the copy may be synchronous, as in begin_copy().
__device__ __forceinline__ void begin_copy_by_l2(void* shared, const void* global) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  begin_copy<16>(shared, global);
#else
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
               :
               : "r"(static_cast<uint32_t>(__cvta_generic_to_shared(shared))), "l"(global)
               : "memory");
#endif
}

/// Waits for the copies that this thread began. The warp's other threads see the data after the next __syncwarp().
__device__ __forceinline__ void end_copies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" : : : "memory");
#endif
}

}  // namespace polykem::cuda
