// SPDX-License-Identifier: Apache-2.0
#include "hpke/process.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <new>

namespace polykem::hpke {
namespace {

using Number = std::atomic<std::uint64_t>;

Number forks{0};
Number last{1};  ///< the highest number that the page has had; a child inherits it

/// A number that is 0 in a new child; nullptr if the kernel does not support such pages.
Number* make_page() noexcept {
#ifdef MADV_WIPEONFORK
  const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const page = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return nullptr;
  if (madvise(page, bytes, MADV_WIPEONFORK) == 0) return new (page) Number(1);
  munmap(page, bytes);
#endif
  return nullptr;
}

Number* page() noexcept {
  static Number* const made = make_page();
  return made;
}

/// If several threads of a new child find the page empty, one sets the number and the others use it.
std::uint64_t page_number(Number& at) noexcept {
  std::uint64_t number = at;
  if (number != 0) return number;
  const std::uint64_t next = ++last;
  return at.compare_exchange_strong(number, next) ? next : number;
}

/// Both are set up when the program starts, so that no thread is doing so during a fork. If there is no memory for one,
/// the other still detects what it can.
[[maybe_unused]] const bool kHasPage = page() != nullptr;
[[maybe_unused]] const int kWatched = pthread_atfork(nullptr, nullptr, [] { ++forks; });

}  // namespace

Process this_process() noexcept {
  Number* const at = page();
  return {forks, at ? page_number(*at) : static_cast<std::uint64_t>(getpid())};
}

}  // namespace polykem::hpke
