// SPDX-License-Identifier: Apache-2.0
// Stages of all schemes grouped into the few steps that the FrodoKEM paper's table has.
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

/// "OS randomness", "hash", "gen A", "product", "gen A, product", "inversion", "sampling", "rest": the same eight for
/// each operation, in this order. FrodoKEM has no inversions; "gen A, product" is for a backend that fuses them.
/// Another row of fused stages of several steps counts as "rest", and so does the time outside the stages.
std::vector<StepTime> steps_of(const OpProfile& profile);

/// A row for each set, operation and backend; milliseconds of `per` operations, and percent. Columns of steps that take
/// no time in any row are left out.
Table steps_table(const std::vector<SchemeProfile>& profiles, std::size_t per);

/// [{"step", "ns", "share"}] of one operation.
Json steps_as_json(const OpProfile& profile);

}  // namespace polykem::cli
