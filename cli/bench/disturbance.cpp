// SPDX-License-Identifier: Apache-2.0
#include "bench/disturbance.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <thread>

#include "common/context.hpp"
#include "common/table.hpp"

namespace polykem::cli {
namespace {

/// On a quiet machine the middle half of the runs is within a few percent, and threads hardly wait.
constexpr double kLargeSpread = 0.15;
/// Below this number of runs the middle half contains nearly all of them.
constexpr std::size_t kMinRunsToDoubt = 5;
constexpr double kLongWait = 0.1;
/// The calling thread is always busy, unless other threads do the work.
constexpr double kMinCpus = 0.9;
/// Larger batches may exceed a cache, but that costs less than this.
constexpr double kMinOfSmaller = 0.6;

bool computes_elsewhere(const BenchRow& row) {
  return row.backend == "cuda" || row.backend == "rtl";
}

bool same_but_larger(const BenchRow& row, const BenchRow& other) {
  return row.point.scheme == other.point.scheme && row.point.op == other.point.op &&
         row.point.keys == other.point.keys && row.backend == other.backend && row.point.count > other.point.count;
}

std::string percent(double part) {
  return fmt::format("{:.0f} %", part * 100);
}

std::string load() {
  double average = 0;
  if (::getloadavg(&average, 1) != 1) return {};
  return fmt::format(" (load {:.1f} on {} CPUs)", average, std::thread::hardware_concurrency());
}

}  // namespace

std::string doubt(const BenchRow& row, const std::vector<BenchRow>& others) {
  const BenchResult& r = row.result;
  std::vector<std::string> reasons;
  if (r.runs >= kMinRunsToDoubt && r.spread() > kLargeSpread)
    reasons.push_back(fmt::format("the middle half of its {} runs spreads over {} of the median", with_commas(r.runs),
                                  percent(r.spread())));
  if (r.waited_share > kLongWait)
    reasons.push_back(fmt::format("its threads waited for a CPU {} of the time", percent(r.waited_share)));
  if (r.cpu_share < kMinCpus && !computes_elsewhere(row))
    reasons.push_back(fmt::format("it got only {} of a CPU", percent(r.cpu_share)));
  for (const BenchRow& other : others) {
    if (!same_but_larger(row, other) || r.ops_per_second >= kMinOfSmaller * other.result.ops_per_second) continue;
    reasons.push_back(fmt::format("it is slower than batch {}", with_commas(other.point.count)));
    break;
  }
  return fmt::format("{}", fmt::join(reasons, ", "));
}

std::vector<std::string> doubts(const std::vector<BenchRow>& rows) {
  std::vector<std::string> out;
  for (const BenchRow& row : rows) {
    const std::string why = doubt(row, rows);
    if (why.empty()) continue;
    out.push_back(fmt::format("{} {} on {}, batch {}: {}", row.point.scheme.name(), op_name(row.point.op), row.backend,
                              with_commas(row.point.count), why));
  }
  if (!out.empty())
    out.push_back(
        fmt::format("the machine may have been busy{}, or has fewer CPUs than threads were asked for: "
                    "measure again when it is quiet",
                    load()));
  return out;
}

}  // namespace polykem::cli
