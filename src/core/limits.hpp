// SPDX-License-Identifier: Apache-2.0
// What this process may use of the machine, with whoever shares its control groups.
#pragma once

#include <cstdint>
#include <string>

namespace polykem {

struct Limit {
  uint64_t value = 0;     ///< 0: unknown
  bool of_group = false;  ///< a control group's, which is less than what the machine has
};

/// Bytes: version 2's memory.max, version 1's memory.limit_in_bytes, or the machine's. `root` stands before every path.
Limit memory_limit(const std::string& root);
/// Threads: pids.max, or the machine's threads-max.
Limit thread_limit(const std::string& root);

}  // namespace polykem
