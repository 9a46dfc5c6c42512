// SPDX-License-Identifier: Apache-2.0
#include "inject.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);
}

namespace polykem::test {

namespace {

struct Counter {
  std::atomic<int> left{0};  ///< calls until the fault; 0: none is planned
  std::atomic<bool> onward{false}, happened{false};

  bool fails() {
    int now = left.load();
    while (now > 1) {
      if (left.compare_exchange_weak(now, now - 1)) return false;
    }
    if (now == 0) return false;
    if (!onward && !left.compare_exchange_strong(now, 0)) return false;  // the fault hit another thread
    happened = true;
    return true;
  }
};

Counter counters[4];
std::atomic<long> blocks{0};

bool fails(Call call) {
  return counters[static_cast<int>(call)].fails();
}

void* counted(void* memory) {
  if (memory != nullptr) ++blocks;
  return memory;
}

void* refused() {
  errno = ENOMEM;
  return nullptr;
}

using StartThread = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
const auto kStartThread = reinterpret_cast<StartThread>(dlsym(RTLD_NEXT, "pthread_create"));

}  // namespace

std::string Fault::text() const {
  static constexpr const char* kNames[] = {"allocation", "thread start", "getrandom", "mmap or madvise"};
  return std::string(kNames[static_cast<int>(call)]) + " " + std::to_string(nth) +
         (onward ? " and all later ones" : "");
}

void arm(const Fault& fault) {
  Counter& counter = counters[static_cast<int>(fault.call)];
  counter.onward = fault.onward;
  counter.happened = false;
  counter.left = fault.nth;
}

bool disarm() {
  bool happened = false;
  for (Counter& counter : counters) {
    counter.left = 0;
    happened |= counter.happened.exchange(false);
  }
  return happened;
}

long live_blocks() {
  return blocks;
}

}  // namespace polykem::test

using polykem::test::Call;
using polykem::test::counted;
using polykem::test::fails;
using polykem::test::refused;

extern "C" {

void* malloc(size_t bytes) {
  return fails(Call::kMemory) ? refused() : counted(__libc_malloc(bytes));
}

void* calloc(size_t count, size_t bytes) {
  return fails(Call::kMemory) ? refused() : counted(__libc_calloc(count, bytes));
}

void* realloc(void* old, size_t bytes) {
  if (bytes > 0 && fails(Call::kMemory)) return refused();
  void* memory = __libc_realloc(old, bytes);
  polykem::test::blocks += (old == nullptr && memory != nullptr) - (old != nullptr && bytes == 0);
  return memory;
}

void* memalign(size_t alignment, size_t bytes) {
  return fails(Call::kMemory) ? refused() : counted(__libc_memalign(alignment, bytes));
}

void* aligned_alloc(size_t alignment, size_t bytes) {
  return memalign(alignment, bytes);
}

int posix_memalign(void** out, size_t alignment, size_t bytes) {
  void* memory = memalign(alignment, bytes);
  if (memory == nullptr) return ENOMEM;
  *out = memory;
  return 0;
}

void free(void* memory) {
  if (memory != nullptr) --polykem::test::blocks;
  __libc_free(memory);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*), void* argument) {
  return fails(Call::kThread) ? EAGAIN : polykem::test::kStartThread(thread, attributes, start, argument);
}

ssize_t getrandom(void* out, size_t bytes, unsigned flags) {
  if (!fails(Call::kRandom)) return syscall(SYS_getrandom, out, bytes, flags);
  errno = EIO;
  return -1;
}

void* mmap(void* address, size_t bytes, int protection, int flags, int file, off_t offset) {
  if (fails(Call::kMapping)) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return reinterpret_cast<void*>(syscall(SYS_mmap, address, bytes, protection, flags, file, offset));
}

int madvise(void* address, size_t bytes, int advice) {
  if (!fails(Call::kMapping)) return static_cast<int>(syscall(SYS_madvise, address, bytes, advice));
  errno = EINVAL;
  return -1;
}

}  // extern "C"
