// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

namespace polykem::lab {

/// Memory that is allocated once and used by one batch after another, since new pages of a large batch take longer than
/// the work on them. It begins with the contents that the previous batch left.
template <class T>
class Storage {
 public:
  T* room_for(size_t count) {
    if (count > size_) {
      memory_.reset();
      memory_ = std::make_unique_for_overwrite<T[]>(count);
      size_ = count;
    }
    return memory_.get();
  }

 private:
  std::unique_ptr<T[]> memory_;
  size_t size_ = 0;
};

}  // namespace polykem::lab
