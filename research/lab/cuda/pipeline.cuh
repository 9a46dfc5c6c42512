// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies in groups, of which some may be under way.
#pragma once

#include "prim/cuda/copy.cuh"

namespace polykem::lab {

/// What this thread has begun to copy since the last call is a group, perhaps an empty one.
__device__ __forceinline__ void close_copies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" : : : "memory");
#endif
}

/// Waits until at most kLeft of this thread's groups are under way.
template <int kLeft>
__device__ __forceinline__ void await_copies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" : : "n"(kLeft) : "memory");
#endif
}

}  // namespace polykem::lab
