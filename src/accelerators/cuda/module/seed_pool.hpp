// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "accelerators/cuda/module/device.hpp"

namespace polykem::cuda {

/// Pinned memory through which seeds reach a stream that the module does not wait for. The kernel that fetches a seed
/// overwrites it, which leaves no copy and frees the cell. Thread-safe.
class SeedPool {
 public:
  static SeedPool& instance();

  /// Queues the copy of kSeedBytes bytes to device memory, 4-byte aligned. Throws CudaError.
  void queue(void* to, const uint8_t* seed, cudaStream_t stream);

 private:
  struct alignas(64) Cell {
    uint32_t seed[kSeedBytes / 4];
    uint32_t taken;  ///< the device clears it
  };
  static constexpr size_t kCellsPerAllocation = 64;

  Cell& take();

  std::mutex mutex_;
  std::vector<std::unique_ptr<PinnedMemory>> allocations_;  ///< of kCellsPerAllocation cells
};

}  // namespace polykem::cuda
