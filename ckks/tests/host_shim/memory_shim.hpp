// SPDX-License-Identifier: Apache-2.0
// The memory of the simulated GPU, for the program that has loaded the module.
#pragma once

#include <cstddef>

struct ShimMemory {
  size_t used, max_used, zeroized;  ///< bytes; zeroized: of those that were freed
  size_t limit;                     ///< the memory of the GPU
  size_t calls_left;                ///< number of further allocations that succeed
  size_t waiting;                   ///< bytes that become free when the pool is trimmed
  int devices;
  int compute_major;  ///< of its compute capability
  int* loading;       ///< the cudaError_t of loading the kernels
};

extern "C" ShimMemory* polykem_shim_memory();
