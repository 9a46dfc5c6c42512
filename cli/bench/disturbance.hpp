// SPDX-License-Identifier: Apache-2.0
// Detects measurements that other load on the machine disturbed.
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

/// The reasons to doubt the figure of `row`, as text; "" if there are none. others: rows of the same run.
std::string doubt(const BenchRow& row, const std::vector<BenchRow>& others);

/// A sentence for each doubtful row, and what to do; empty if there is none.
std::vector<std::string> doubts(const std::vector<BenchRow>& rows);

}  // namespace polykem::cli
