// SPDX-License-Identifier: Apache-2.0
// Groups the stages of all schemes into the few steps of the FrodoKEM paper's table.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/json_out.hpp"
#include "common/table.hpp"
#include "profile/stages.hpp"

namespace polykem::cli {

/// The operations of one set on one backend.
struct SchemeProfile {
  Scheme scheme;
  std::string backend;
  std::vector<OpProfile> ops;
};

/// One step of an operation and its time.
struct StepTime {
  std::string name;
  std::uint64_t nanoseconds;
};

/// The steps of one operation, always these eight in this order: "OS randomness", "hash", "gen A", "product", "gen A,
/// product" (for backends that fuse them), "inversion" (not in FrodoKEM), "sampling", "rest". Other rows that fuse
/// stages of several steps count as "rest", as does the time outside stages.
std::vector<StepTime> steps_of(const OpProfile& profile);

/// A table with a row for each set, operation and backend, in milliseconds of `per` operations and percent. Columns of
/// steps that take no time in any row are left out.
Table steps_table(const std::vector<SchemeProfile>& profiles, std::size_t per);

/// The steps of one operation in JSON: [{"step", "ns", "share"}].
Json steps_as_json(const OpProfile& profile);

}  // namespace polykem::cli
