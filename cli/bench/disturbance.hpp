// SPDX-License-Identifier: Apache-2.0
// Whether a machine was quiet enough while something was measured on it.
#pragma once

#include <string>
#include <vector>

#include "bench/measure.hpp"

namespace polykem::cli {

struct BenchRow {
  BenchPoint point;
  BenchResult result;
  std::string backend;
};

/// Why the figure of `row` is doubtful, in words; "" if nothing tells. others: rows of the same run.
std::string doubt(const BenchRow& row, const std::vector<BenchRow>& others);

/// A sentence for each row that is doubtful, and what to do; empty if there is none.
std::vector<std::string> doubts(const std::vector<BenchRow>& rows);

}  // namespace polykem::cli
