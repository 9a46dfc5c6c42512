// SPDX-License-Identifier: Apache-2.0
// The choice between a kernel for few items and one for many.
#pragma once

#include <atomic>
#include <cstddef>

#include "core/device.hpp"

namespace polykem::cuda {

/// The choice that tests have made for all batches of the process.
inline std::atomic<KernelChoice> kernel_choice{KernelChoice::kByCount};

/// True if a batch of `count` items takes the kernel for few. Above `max_count` items the one for many is faster.
inline bool is_few(size_t count, size_t max_count) {
  const KernelChoice choice = kernel_choice.load(std::memory_order_relaxed);
  return choice == KernelChoice::kByCount ? count <= max_count : choice == KernelChoice::kFew;
}

}  // namespace polykem::cuda
