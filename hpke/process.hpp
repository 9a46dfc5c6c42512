// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace polykem::hpke {

/// Differs between a process and its copies by fork() or the system call clone(), also in a new namespace of process
/// ids. Without pages that the kernel wipes in a child (MADV_WIPEONFORK, Linux 4.14), a copy by clone() with its
/// parent's process id is not detected.
struct Process {
  std::uint64_t forks;   ///< forks that a handler has counted
  std::uint64_t number;  ///< from a page that the kernel clears in a child, or the process id
  bool operator==(const Process&) const = default;
};

/// Thread-safe.
Process this_process() noexcept;

}  // namespace polykem::hpke
