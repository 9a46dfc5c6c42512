// SPDX-License-Identifier: Apache-2.0
#include "core/secure.hpp"

#include <cstring>
#include <new>

#include "core/cpu.hpp"

namespace polykem {

namespace {

constexpr std::align_val_t kAlignment{64};

/// Otherwise a later function that saves them would copy their contents to the stack.
void clear_vector_registers() noexcept {
#ifdef POLYKEM_HAVE_X86
  if (cpu_features().avx512()) {
    asm volatile(
        "vpxorq %%zmm16, %%zmm16, %%zmm16\n vpxorq %%zmm17, %%zmm17, %%zmm17\n"
        "vpxorq %%zmm18, %%zmm18, %%zmm18\n vpxorq %%zmm19, %%zmm19, %%zmm19\n"
        "vpxorq %%zmm20, %%zmm20, %%zmm20\n vpxorq %%zmm21, %%zmm21, %%zmm21\n"
        "vpxorq %%zmm22, %%zmm22, %%zmm22\n vpxorq %%zmm23, %%zmm23, %%zmm23\n"
        "vpxorq %%zmm24, %%zmm24, %%zmm24\n vpxorq %%zmm25, %%zmm25, %%zmm25\n"
        "vpxorq %%zmm26, %%zmm26, %%zmm26\n vpxorq %%zmm27, %%zmm27, %%zmm27\n"
        "vpxorq %%zmm28, %%zmm28, %%zmm28\n vpxorq %%zmm29, %%zmm29, %%zmm29\n"
        "vpxorq %%zmm30, %%zmm30, %%zmm30\n vpxorq %%zmm31, %%zmm31, %%zmm31\n"
        "kxorq %%k1, %%k1, %%k1\n kxorq %%k2, %%k2, %%k2\n kxorq %%k3, %%k3, %%k3\n kxorq %%k4, %%k4, %%k4\n"
        "kxorq %%k5, %%k5, %%k5\n kxorq %%k6, %%k6, %%k6\n kxorq %%k7, %%k7, %%k7"
        :
        :
        : "memory");  // this file's own code uses none of them
  }
  if (cpu_features().avx2()) {
    asm volatile("vzeroall"
                 :
                 :
                 : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
                   "xmm12", "xmm13", "xmm14", "xmm15");
  }
#endif
}

}  // namespace

void secure_zero(void* memory, size_t bytes) noexcept {
  if (bytes == 0) return;
  std::memset(memory, 0, bytes);
  asm volatile("" : : "r"(memory) : "memory");
}

__attribute__((noinline)) void wipe_stack() noexcept {
  std::byte below[kWipedStackBytes];
  clear_vector_registers();
  secure_zero(below, sizeof below);
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
