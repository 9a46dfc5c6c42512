// SPDX-License-Identifier: Apache-2.0
#include <new>

#include "core/secure.hpp"

namespace polykem {

namespace {

constexpr std::align_val_t kAlignment{64};

}  // namespace

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
  zeroize(data_, size_);
  ::operator delete(data_, kAlignment);
  data_ = nullptr;
  size_ = 0;
}

}  // namespace polykem
