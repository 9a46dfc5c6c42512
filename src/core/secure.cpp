// SPDX-License-Identifier: Apache-2.0
#include "core/secure.hpp"

#include <cstring>
#include <new>

namespace polykem {

namespace {
constexpr std::align_val_t kAlignment{64};
}

void secure_zero(void* memory, size_t bytes) noexcept {
  if (bytes == 0) return;
  std::memset(memory, 0, bytes);
  asm volatile("" : : "r"(memory) : "memory");
}

bool SecureBuffer::reserve(size_t bytes) noexcept {
  if (bytes <= size_) return true;
  release();
  data_ = static_cast<std::byte*>(::operator new(bytes, kAlignment, std::nothrow));
  if (data_ == nullptr) return false;
  size_ = bytes;
  return true;
}

void SecureBuffer::release() noexcept {
  if (data_ == nullptr) return;
  secure_zero(data_, size_);
  ::operator delete(data_, kAlignment);
  data_ = nullptr;
  size_ = 0;
}

}  // namespace polykem
