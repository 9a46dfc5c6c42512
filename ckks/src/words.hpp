// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "core/secure.hpp"

namespace polykem::ckks {

/// Memory for rows. Blocks from 64 KB on are kept when they are freed, up to 256 MiB in all, so that the next
/// operation's results and intermediate rows need no new pages of the operating system. They hold old data.
void* allocate_rows(size_t bytes);
void free_rows(void* memory) noexcept;
/// Frees the blocks that are kept.
void release_rows() noexcept;

/// An allocator of such memory, whose vectors leave new words uninitialised.
template <typename T>
struct RowAllocator {
  using value_type = T;
  RowAllocator() = default;
  template <typename U>
  RowAllocator(const RowAllocator<U>&) {}
  T* allocate(size_t count) {
    if (count > SIZE_MAX / 2 / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(allocate_rows(count * sizeof(T)));
  }
  void deallocate(T* memory, size_t) noexcept { free_rows(memory); }
  template <typename U>
  void construct(U* at) {
    ::new (static_cast<void*>(at)) U;
  }
  template <typename U, typename... Arguments>
  void construct(U* at, Arguments&&... arguments) {
    ::new (static_cast<void*>(at)) U(std::forward<Arguments>(arguments)...);
  }
  bool operator==(const RowAllocator&) const = default;
};
using Words = std::vector<uint64_t, RowAllocator<uint64_t>>;

/// An allocator of the same memory, zeroized before it is freed. Its vectors initialise new elements.
template <typename T>
struct ZeroizingAllocator {
  using value_type = T;
  ZeroizingAllocator() = default;
  template <typename U>
  ZeroizingAllocator(const ZeroizingAllocator<U>&) {}
  T* allocate(size_t count) { return RowAllocator<T>().allocate(count); }
  void deallocate(T* memory, size_t count) noexcept {
    zeroize(memory, count * sizeof(T));
    free_rows(memory);
  }
  bool operator==(const ZeroizingAllocator&) const = default;
};
template <typename T>
using SecretVector = std::vector<T, ZeroizingAllocator<T>>;

}  // namespace polykem::ckks
