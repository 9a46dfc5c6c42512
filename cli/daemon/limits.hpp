// SPDX-License-Identifier: Apache-2.0
// What a configuration of polykemd needs of the machine at most, and what this process may have.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/options.hpp"

namespace polykem::cli {

/// A row of the table of limits.
struct LimitRow {
  const char* resource;  ///< "memory", "locked memory", "descriptors", "threads", "clients"
  std::uint64_t needed = 0;
  std::optional<std::uint64_t> available;  ///< none: without limit, or unknown
  std::string needed_by, limited_by, what_to_do;
  bool in_bytes = false;
  bool is_required = true;  ///< polykemd does not begin without

  bool is_enough() const { return !available || needed <= *available; }
};

/// --memory, or what it is without that option.
std::uint32_t memory_mib(const DaemonOptions& options);

/// False if this process may not lock as much memory as workers may share: it could be swapped out.
bool may_lock_memory(const DaemonOptions& options);

std::vector<LimitRow> limits_of(const DaemonOptions& options);

/// The table for people.
std::string render_limits(const std::vector<LimitRow>& rows);

/// The rows that are required and lack something.
std::vector<Finding> lacking(const std::vector<LimitRow>& rows);

}  // namespace polykem::cli
