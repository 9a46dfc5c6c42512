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

/// The largest number of messages that are hashed by a warp each, where an H200 takes as long either way. A permutation
/// of a warp has 432 shuffles, of which a multiprocessor executes one in each cycle, so its time grows with the number
/// of messages. With a message in each thread, the time is the same until the device is full.
inline constexpr size_t kFewMessages = 2640;

/// True if a batch of `items` items takes the kernels in which a warp hashes an item.
inline bool has_few_messages(size_t items) {
  return is_few(items, for_current_device(kFewMessages));
}

}  // namespace polykem::cuda
