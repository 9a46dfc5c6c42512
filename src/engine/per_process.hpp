// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>

#include "prim/drbg/fork_generation.hpp"

namespace polykem {

/// One T for each process. After a fork the child makes its own and does not touch its parent's, whose locks may be
/// held and whose threads do not exist in the child. Thread-safe.
template <class T>
class PerProcess {
 public:
  PerProcess() = default;
  ~PerProcess() {
    const Entry* entry = entry_.load();
    if (entry != nullptr && entry->process == ForkGeneration::of_process()) delete entry;
  }
  PerProcess(const PerProcess&) = delete;
  PerProcess& operator=(const PerProcess&) = delete;

  /// Throws std::bad_alloc at the first call in a process.
  T& get() {
    Entry* known = entry_.load(std::memory_order_acquire);
    const uint64_t process = ForkGeneration::of_process();
    if (known != nullptr && known->process == process) return known->value;
    auto fresh = std::make_unique<Entry>(process);
    if (entry_.compare_exchange_strong(known, fresh.get())) return fresh.release()->value;
    return known->value;
  }
  /// nullptr until get() has been called in this process.
  T* find() {
    Entry* known = entry_.load(std::memory_order_acquire);
    return known != nullptr && known->process == ForkGeneration::of_process() ? &known->value : nullptr;
  }

 private:
  struct Entry {
    explicit Entry(uint64_t of) : process(of) {}
    const uint64_t process;
    T value{};
  };

  std::atomic<Entry*> entry_{nullptr};
};

}  // namespace polykem
