// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <new>

#include "core/round.hpp"

namespace polykem {

/// Hands out 64-byte aligned arrays from one block, front to back. The caller owns the block.
class Arena {
 public:
  explicit Arena(std::byte* begin) : next_(begin) {}

  template <class T>
  T* take(size_t count) {
    T* result = std::launder(reinterpret_cast<T*>(next_));
    next_ += bytes<T>(count);
    return result;
  }

  /// The bytes that take<T>(count) uses up.
  template <class T>
  static constexpr size_t bytes(size_t count) {
    return rounded_up(count * sizeof(T), 64);
  }

 private:
  std::byte* next_;
};

}  // namespace polykem
