// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace polykem {

/// Overwrites memory with zeros in a way that the compiler keeps. memory may be nullptr. It is inlined at any level of
/// optimisation, because zeroize_stack() must not leave a return address below the memory that it zeroizes.
__attribute__((always_inline)) inline void zeroize(void* memory, size_t bytes) noexcept {
  if (memory == nullptr || bytes == 0) return;
  std::memset(memory, 0, bytes);
  asm volatile("" : : "r"(memory) : "memory");
}

/// Copies memory and clears the vector registers through which the C library copies. Otherwise the dynamic linker, when
/// it binds a function, or the kernel, at a signal, would save the secret on the stack.
void copy_secret(void* to, const void* from, size_t bytes) noexcept;

/// Bytes that zeroize_stack() overwrites: more than the deepest operation of any scheme and backend uses, which
/// tests/secrets measures.
inline constexpr size_t kZeroizedStackBytes = 20 * 1024;

/// The same for a batch of one item, which tests/batcher measures: a caller with a small stack computes one item in
/// 16 KB, including this.
inline constexpr size_t kZeroizedStackOfSingleItem = 13 * 1024 + 512;

/// The bytes for threads that use matrix tiles, on which the frame of a signal during an operation is 8 KB larger.
inline constexpr size_t kZeroizedStackWithTiles = 28 * 1024;

/// Zeroizes the stack below the caller's frame and the vector registers, where operations leave spilled registers,
/// permutation states and products. A thread calls it after it has computed its part of a batch. Functions rely on it
/// for temporaries in their frames; heap memory is zeroized by its owner.
void zeroize_stack() noexcept;
/// The same after a batch of one item, for kZeroizedStackOfSingleItem bytes.
void zeroize_stack_of_single_item() noexcept;
/// The same on a thread that may have used matrix tiles, for kZeroizedStackWithTiles bytes.
void zeroize_stack_with_tiles() noexcept;

/// 64-byte aligned memory that is zeroized before it is freed. Growing it zeroizes and discards the old contents.
class SecureBuffer {
 public:
  SecureBuffer() = default;
  ~SecureBuffer() { release(); }
  SecureBuffer(const SecureBuffer&) = delete;
  SecureBuffer& operator=(const SecureBuffer&) = delete;

  /// Makes room for at least `bytes` bytes. Returns false, and leaves the buffer empty, if there is not enough memory.
  [[nodiscard]] bool reserve(size_t bytes) noexcept;
  void release() noexcept;

  std::byte* data() const noexcept { return data_; }
  size_t size() const noexcept { return size_; }

 private:
  std::byte* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace polykem
