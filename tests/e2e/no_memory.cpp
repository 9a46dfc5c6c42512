// SPDX-License-Identifier: Apache-2.0
// For LD_PRELOAD: as long as the file named by NO_MEMORY_WHILE exists, three of every 23 calls of operator new fail.
// malloc does not fail, because OpenSSL 3.0 would crash.
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <new>

__attribute__((visibility("default"))) void* operator new(std::size_t bytes) {
  static std::atomic<unsigned> calls{0};
  const char* file = std::getenv("NO_MEMORY_WHILE");
  const bool fails = file != nullptr && access(file, F_OK) == 0 && calls++ % 23 < 3;
  void* memory = fails ? nullptr : std::malloc(bytes);
  return memory == nullptr ? throw std::bad_alloc() : memory;
}
