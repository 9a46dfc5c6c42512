// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "core/round.hpp"

namespace polykem::cuda {

/// Hands out arrays of device memory with one element for each item. With a null pointer as memory, it only counts the
/// bytes.
class DeviceArena {
 public:
  DeviceArena(std::byte* base, size_t items) : base_(base), items_(items) {}

  template <class T>
  T* take(size_t bytes) {
    T* result = reinterpret_cast<T*>(base_ + used_);
    used_ += rounded_up(items_ * bytes, 256);
    return result;
  }
  size_t items() const { return items_; }
  size_t used() const { return used_; }

 private:
  std::byte* base_;
  size_t items_;
  size_t used_ = 0;
};

}  // namespace polykem::cuda
