// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace polykem {

/// A number that differs between a process and the copies that fork() or clone() make of it. It comes from a page that
/// the kernel zeroes in a child (MADV_WIPEONFORK, Linux 4.14) and from a handler of pthread_atfork. The page detects
/// every way of copying a process, also into a new namespace of process ids. Where the kernel has no such page, the
/// process id is used instead. Thread-safe.
class ForkGeneration {
 public:
  /// If `with_page` is false, it works without the page, as on an older kernel.
  explicit ForkGeneration(bool with_page = true) noexcept;
  ~ForkGeneration();
  ForkGeneration(const ForkGeneration&) = delete;
  ForkGeneration& operator=(const ForkGeneration&) = delete;

  /// Returns the number, which is never 0.
  uint64_t current() noexcept;
  bool has_page() const noexcept { return page_ != nullptr; }

  /// Returns the number of this process from an instance that all generators share.
  static uint64_t of_process() noexcept;

 private:
  uint64_t page_number() noexcept;

  std::atomic<uint64_t> last_{1};          ///< the highest number that page_ has had; a child inherits it
  std::atomic<uint64_t>* page_ = nullptr;  ///< 0 in a new child
};

}  // namespace polykem
