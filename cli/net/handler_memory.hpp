// SPDX-License-Identifier: Apache-2.0
// Handlers that are posted to the loop without allocating, so that posting cannot fail.
#pragma once

#include <cstddef>
#include <new>
#include <utility>

namespace polykem::cli::net {

/// Memory for one handler at a time. Asio releases it before it calls the handler.
class HandlerMemory {
 public:
  void* take(std::size_t bytes) {
    if (taken_ || bytes > sizeof bytes_) return ::operator new(bytes);
    taken_ = true;
    return bytes_;
  }
  void give_back(void* memory) noexcept {
    if (memory == bytes_) {
      taken_ = false;
    } else {
      ::operator delete(memory);
    }
  }

 private:
  alignas(std::max_align_t) std::byte bytes_[256];
  bool taken_ = false;
};

template <class T>
struct HandlerAllocator {
  using value_type = T;

  explicit HandlerAllocator(HandlerMemory& owner) : memory(&owner) {}
  template <class U>
  HandlerAllocator(const HandlerAllocator<U>& other) : memory(other.memory) {}
  T* allocate(std::size_t count) { return static_cast<T*>(memory->take(count * sizeof(T))); }
  void deallocate(T* at, std::size_t /*count*/) noexcept { memory->give_back(at); }
  template <class U>
  bool operator==(const HandlerAllocator<U>& other) const {
    return memory == other.memory;
  }

  HandlerMemory* memory;
};

/// Wraps `work` as a handler that uses `memory`.
template <class Work>
class HandlerIn {
 public:
  using allocator_type = HandlerAllocator<Work>;

  HandlerIn(HandlerMemory& memory, Work work) : memory_(&memory), work_(std::move(work)) {}
  allocator_type get_allocator() const noexcept { return allocator_type(*memory_); }
  void operator()() { work_(); }

 private:
  HandlerMemory* memory_;
  Work work_;
};

}  // namespace polykem::cli::net
