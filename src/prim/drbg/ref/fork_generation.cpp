// SPDX-License-Identifier: Apache-2.0
#include "prim/drbg/fork_generation.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <new>

namespace polykem {

namespace {

std::atomic<uint64_t> forks{0};

void count_fork() {
  forks.fetch_add(1, std::memory_order_relaxed);
}

/// Registers the handler that counts forks. If there is no memory for it, the page or the process id still detects a
/// fork.
void watch_forks() noexcept {
  [[maybe_unused]] static const int watched = pthread_atfork(nullptr, nullptr, count_fork);
}

size_t page_bytes() noexcept {
  return static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

/// Returns a page that the kernel zeroes in a child, or nullptr if it has no such pages.
std::atomic<uint64_t>* make_page() noexcept {
#ifdef MADV_WIPEONFORK
  void* page = mmap(nullptr, page_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return nullptr;
  if (madvise(page, page_bytes(), MADV_WIPEONFORK) == 0) return new (page) std::atomic<uint64_t>(1);
  munmap(page, page_bytes());
#endif
  return nullptr;
}

}  // namespace

ForkGeneration::ForkGeneration(bool with_page) noexcept : page_(with_page ? make_page() : nullptr) {
  watch_forks();
}

ForkGeneration::~ForkGeneration() {
  if (page_ != nullptr) munmap(page_, page_bytes());
}

/// Returns the page's number, and sets a new one in a child. Several threads of a new child may find the page empty at
/// the same time: one sets the number, the others use it.
uint64_t ForkGeneration::page_number() noexcept {
  uint64_t number = page_->load(std::memory_order_relaxed);
  if (number != 0) return number;
  const uint64_t next = last_.fetch_add(1, std::memory_order_relaxed) + 1;
  return page_->compare_exchange_strong(number, next, std::memory_order_relaxed) ? next : number;
}

uint64_t ForkGeneration::current() noexcept {
  const uint64_t number = page_ != nullptr ? page_number() : static_cast<uint64_t>(getpid());
  return (forks.load(std::memory_order_relaxed) << 32) + number;
}

uint64_t ForkGeneration::of_process() noexcept {
  // Never destroyed: threads may still draw random numbers while the process ends.
  alignas(ForkGeneration) static std::byte storage[sizeof(ForkGeneration)];
  static ForkGeneration* const instance = new (storage) ForkGeneration;
  return instance->current();
}

}  // namespace polykem
