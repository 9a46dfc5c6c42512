// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies in groups, several of which may be in flight.
#pragma once

#include "prim/cuda/copy.cuh"

namespace polykem::lab {

/// Makes a group, possibly empty, of the copies that this thread has begun since the last call.
__device__ __forceinline__ void close_copies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" : : : "memory");
#endif
}

/// Waits until at most kLeft of this thread's groups are in flight.
template <int kLeft>
__device__ __forceinline__ void await_copies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" : : "n"(kLeft) : "memory");
#endif
}

}  // namespace polykem::lab
