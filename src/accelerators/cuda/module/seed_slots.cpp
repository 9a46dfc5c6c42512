// SPDX-License-Identifier: Apache-2.0
#include "accelerators/cuda/module/seed_slots.hpp"

#include <atomic>
#include <cstddef>
#include <cstring>

#include "accelerators/cuda/module/gather.hpp"
#include "core/secure.hpp"

namespace polykem::cuda {

SeedSlots& SeedSlots::instance() {
  static auto* const slots = new SeedSlots;  // never destroyed: the device may still read
  return *slots;
}

void SeedSlots::queue(void* to, const uint8_t* seed, cudaStream_t stream) {
  static_assert(offsetof(Slot, taken) == kSeedBytes, "take_from_host clears the word behind the seed");
  Slot& slot = take();
  std::memcpy(slot.seed, seed, kSeedBytes);
  const cudaError_t error = take_from_host(to, slot.seed, kSeedBytes, stream);
  if (error != cudaSuccess) {
    zeroize(slot.seed, sizeof slot.seed);
    std::atomic_ref(slot.taken).store(0, std::memory_order_release);
  }
  check(error, "copying the seed");
}

SeedSlots::Slot& SeedSlots::take() {
  const std::lock_guard lock(mutex_);
  for (const auto& block : blocks_) {
    auto* const slots = reinterpret_cast<Slot*>(block->data());
    for (size_t i = 0; i < kSlotsOfBlock; ++i) {
      const std::atomic_ref taken(slots[i].taken);
      if (taken.load(std::memory_order_acquire) != 0) continue;
      taken.store(1, std::memory_order_relaxed);
      return slots[i];
    }
  }
  auto fresh = std::make_unique<PinnedMemory>();
  fresh->reserve(kSlotsOfBlock * sizeof(Slot));
  fresh->wipe();
  blocks_.push_back(std::move(fresh));
  auto* const slots = reinterpret_cast<Slot*>(blocks_.back()->data());
  slots[0].taken = 1;
  return slots[0];
}

}  // namespace polykem::cuda
