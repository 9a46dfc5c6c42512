// SPDX-License-Identifier: Apache-2.0
// The memory and threads that this process may use, together with the processes that share its control groups.
#pragma once

#include <cstdint>
#include <string>

namespace polykem {

struct Limit {
  uint64_t value = 0;     ///< 0: unknown
  bool of_group = false;  ///< a control group sets it, lower than what the machine has
};

/// Bytes of memory: memory.max in version 2, memory.limit_in_bytes in version 1, or the machine's memory. root: a
/// prefix of every path, for tests.
Limit memory_limit(const std::string& root);
/// Threads: pids.max, or the machine's threads-max. root: as above.
Limit thread_limit(const std::string& root);

}  // namespace polykem
