// SPDX-License-Identifier: Apache-2.0
// Copies from global to shared memory that run behind the thread's other work.
#pragma once

#include <cstdint>

namespace polykem::cuda {

/// Begins to copy kBytes (4 or 16) bytes, both places aligned to as many. Compute capability 7.5 copies at once.
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

/// What this thread began to copy is there; the warp's other threads see it after the next __syncwarp().
__device__ __forceinline__ void end_copies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" : : : "memory");
#endif
}

}  // namespace polykem::cuda
