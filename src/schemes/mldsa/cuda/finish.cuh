// SPDX-License-Identifier: Apache-2.0
// The kernel in which a block signs an item to the end, four attempts at a time. It signs all items of a small batch;
// of a large one, the items without a signature after the last round. With a damaged secret key, all attempts may fail,
// and then the item fails.
#pragma once

#include "schemes/mldsa/cuda/hash.cuh"
#include "schemes/mldsa/cuda/response.cuh"

namespace polykem::mldsa::cuda {

/// Ends an item without a signature: zeroes it and sets the item's status. All threads of the block call it.
template <class Set>
__device__ __forceinline__ void give_up(const Work& work, size_t item) {
  constexpr size_t kBytes = Shape<Set>::kSignatureBytes;
  for (size_t b = threadIdx.x; b < kBytes; b += kThreads)
    work.signature_out[item * kBytes + b] = 0;
  if (threadIdx.x == 0 && work.status != nullptr) work.status[item] = static_cast<int>(Status::kSecretKey);
}

template <class Set>
__global__ void __launch_bounds__(kThreads, 4) finish_kernel(Work work, uint32_t round) {
  using S = Shape<Set>;
  static_assert(kBlockItems * S::kL <= 32);
  constexpr unsigned kWarps = kThreads / 32;
  __shared__ union Memory {
    uint32_t mask[kMaskScratchWords];
    LaneMemory<S::kL + 1> commitment[kBlockItems];
    HashMemory hash;
    ResponseMemory<Set> response[kWarps];
  } memory;
  __shared__ unsigned accepted;  ///< the first of the four attempts that is accepted
  const uint32_t count = work.unsigned_counts[round], first = blockIdx.x * kBlockItems;
  const unsigned own = block_item(), l = poly_lane();
  for (uint32_t index = blockIdx.x; index < count; index += gridDim.x) {
    const uint32_t item = work.unsigned_items[round % 2][index];
    uint32_t kappa = round * S::kL;
    if (threadIdx.x == 0) accepted = kBlockItems;
    do {
      if (threadIdx.x < 32)
        expand_mask<Set>(memory.mask, work, first * S::kL, (first + kBlockItems) * S::kL, [&](uint32_t attempt) {
          return Attempt{item, kappa + (attempt - first) * S::kL};
        });
      __syncthreads();
      compute_commitment<Set>(memory.commitment[own], work, first + own, item, l);
      __syncthreads();
      if (threadIdx.x < 32) challenge_attempts<Set>(memory.hash, work, first, kBlockItems);
      __syncthreads();
      for (unsigned attempt = threadIdx.x / 32; attempt < kBlockItems; attempt += kWarps) {
        const bool good = Response<Set>(memory.response[threadIdx.x / 32], work, first + attempt, item).accepted();
        if (good && warp_lane() == 0) atomicMin(&accepted, attempt);
        __syncthreads();
        const unsigned found = accepted;
        __syncthreads();  // before a warp accepts its next attempt
        if (found == attempt) store_signature<Set>(memory.response[threadIdx.x / 32], work, first + attempt, item);
        if (found < kBlockItems) break;
      }
      kappa += kBlockItems * S::kL;
      __syncthreads();
    } while (accepted == kBlockItems && kappa < kMaxAttempts * S::kL);
    if (accepted == kBlockItems) give_up<Set>(work, item);
    __syncthreads();
  }
}

}  // namespace polykem::mldsa::cuda
