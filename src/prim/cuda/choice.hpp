// SPDX-License-Identifier: Apache-2.0
// The choice between a kernel for few items and one for many.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstddef>

#include "core/device.hpp"
#include "prim/cuda/multiprocessors.hpp"

namespace polykem::cuda {

/// The choice that tests have made for all batches of the process.
inline std::atomic<KernelChoice> kernel_choice{KernelChoice::kByCount};

/// Returns a number of items that was measured on kMeasuredMultiprocessors, for those of the current device.
inline size_t for_current_device(size_t items) {
  int device = 0, multiprocessors = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device) != cudaSuccess)
    return items;
  return items * static_cast<size_t>(multiprocessors) / kMeasuredMultiprocessors;
}

/// True if a batch of `count` items takes the kernel for few. Above `max_count` items the one for many is faster.
inline bool is_few(size_t count, size_t max_count) {
  const KernelChoice choice = kernel_choice.load(std::memory_order_relaxed);
  return choice == KernelChoice::kByCount ? count <= max_count : choice == KernelChoice::kFew;
}

}  // namespace polykem::cuda
