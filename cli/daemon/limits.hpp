// SPDX-License-Identifier: Apache-2.0
// The resources that a configuration of polykemd needs at most, and those that this process may have.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/options.hpp"

namespace polykem::cli {

/// A row in the table of limits.
struct LimitRow {
  const char* resource;  ///< "memory", "locked memory", "descriptors", "threads", "clients"
  std::uint64_t needed = 0;
  std::optional<std::uint64_t> available;  ///< none: unlimited or unknown
  std::string needed_by, limited_by, what_to_do;
  bool in_bytes = false;
  bool is_required = true;  ///< polykemd does not start without enough of it

  bool is_enough() const { return !available || needed <= *available; }
};

/// The value of --memory, or its default for this machine.
std::uint32_t memory_mib(const DaemonOptions& options);

/// False if this process must not lock all memory that workers may share, so that it could be swapped out.
bool may_lock_memory(const DaemonOptions& options);

std::vector<LimitRow> limits_of(const DaemonOptions& options);

/// The table as text.
std::string render_limits(const std::vector<LimitRow>& rows);

/// A finding for each required resource of which there is not enough.
std::vector<Finding> shortages(const std::vector<LimitRow>& rows);

}  // namespace polykem::cli
