// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "broker/fd.hpp"

namespace polykem::broker {

/// Memory that two processes share. Its size is sealed, so access never fails. It appears in no core dump and no forked
/// child, and is never swapped out if RLIMIT_MEMLOCK lets its creator lock it.
class SharedMemory {
 public:
  SharedMemory() = default;
  ~SharedMemory() { unmap(); }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  /// Creates it; `fd` is for the other side. On failure returns false and sets errno.
  [[nodiscard]] bool create(size_t bytes, Fd& fd);
  /// Maps what the other side created. Returns false if its size is different or not sealed.
  [[nodiscard]] bool map(const Fd& fd, size_t bytes);

  std::byte* data() const { return data_; }

 private:
  bool map_pages(int fd, size_t bytes);
  void unmap();

  std::byte* data_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace polykem::broker
