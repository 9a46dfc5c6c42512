// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace polykem {

/// Overwrites memory with zeros; the compiler cannot remove it.
void secure_zero(void* memory, size_t bytes) noexcept;

/// 64-byte aligned memory that is zeroised before it is freed. Growing discards (and zeroises) the old contents.
class SecureBuffer {
 public:
  SecureBuffer() = default;
  ~SecureBuffer() { release(); }
  SecureBuffer(const SecureBuffer&) = delete;
  SecureBuffer& operator=(const SecureBuffer&) = delete;

  /// At least `bytes` bytes; false if there is no memory (the buffer is then empty).
  [[nodiscard]] bool reserve(size_t bytes) noexcept;
  void release() noexcept;

  std::byte* data() const noexcept { return data_; }
  size_t size() const noexcept { return size_; }

 private:
  std::byte* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace polykem
