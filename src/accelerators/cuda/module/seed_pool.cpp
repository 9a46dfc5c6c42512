// SPDX-License-Identifier: Apache-2.0
#include "accelerators/cuda/module/seed_pool.hpp"

#include <atomic>
#include <cstddef>
#include <cstring>

#include "accelerators/cuda/module/gather.hpp"
#include "core/secure.hpp"

namespace polykem::cuda {

SeedPool& SeedPool::instance() {
  static auto* const pool = new SeedPool;  // never destroyed: the device may still read
  return *pool;
}

void SeedPool::queue(void* to, const uint8_t* seed, cudaStream_t stream) {
  static_assert(offsetof(Cell, taken) == kSeedBytes, "take_from_host clears the word behind the seed");
  Cell& cell = take();
  std::memcpy(cell.seed, seed, kSeedBytes);
  const cudaError_t error = take_from_host(to, cell.seed, kSeedBytes, stream);
  if (error != cudaSuccess) {
    zeroize(cell.seed, sizeof cell.seed);
    std::atomic_ref(cell.taken).store(0, std::memory_order_release);
  }
  check(error, "copying the seed");
}

SeedPool::Cell& SeedPool::take() {
  const std::lock_guard lock(mutex_);
  for (const auto& allocation : allocations_) {
    auto* const cells = reinterpret_cast<Cell*>(allocation->data());
    for (size_t i = 0; i < kCellsPerAllocation; ++i) {
      const std::atomic_ref taken(cells[i].taken);
      if (taken.load(std::memory_order_acquire) != 0) continue;
      taken.store(1, std::memory_order_relaxed);
      return cells[i];
    }
  }
  auto fresh = std::make_unique<PinnedMemory>();
  fresh->reserve(kCellsPerAllocation * sizeof(Cell));
  fresh->zeroize();
  allocations_.push_back(std::move(fresh));
  auto* const cells = reinterpret_cast<Cell*>(allocations_.back()->data());
  cells[0].taken = 1;
  return cells[0];
}

}  // namespace polykem::cuda
