// SPDX-License-Identifier: Apache-2.0
// Memory that may hold a secret key, which is zeroized before it is freed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/secure.hpp"

namespace polykem::openfhe {

template <class T>
struct ZeroizingAllocator {
  using value_type = T;
  ZeroizingAllocator() = default;
  template <class U>
  ZeroizingAllocator(const ZeroizingAllocator<U>&) noexcept {}
  T* allocate(std::size_t n) { return std::allocator<T>().allocate(n); }
  void deallocate(T* p, std::size_t n) noexcept {
    zeroize(p, n * sizeof(T));
    std::allocator<T>().deallocate(p, n);
  }
  template <class U>
  bool operator==(const ZeroizingAllocator<U>&) const noexcept {
    return true;
  }
};

using SecretBytes = std::vector<std::uint8_t, ZeroizingAllocator<std::uint8_t>>;

}  // namespace polykem::openfhe
