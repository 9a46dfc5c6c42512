// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "broker/fd.hpp"

namespace polykem::broker {

/// Memory that two processes see. Neither can change its size: access to it never fails. It is in no core dump and in
/// no child of fork(), and in no swap if the maker may lock so much (RLIMIT_MEMLOCK).
class SharedMemory {
 public:
  SharedMemory() = default;
  ~SharedMemory() { unmap(); }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  /// Makes it; fd is what the other side needs. False with errno.
  [[nodiscard]] bool create(size_t bytes, Fd& fd);
  /// Maps what the other side has made. False if it has another size or could change it.
  [[nodiscard]] bool map(const Fd& fd, size_t bytes);

  std::byte* data() const { return data_; }

 private:
  bool map_pages(int fd, size_t bytes);
  void unmap();

  std::byte* data_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace polykem::broker
