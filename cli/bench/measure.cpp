// SPDX-License-Identifier: Apache-2.0
#include "bench/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "common/context.hpp"
#include "common/workload.hpp"

namespace polykem::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMinRuns = 3;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

const char* key_mode_name(KeyMode mode) {
  return mode == KeyMode::kShared ? "shared" : "per-item";
}

BenchResult measure(const Context& context, const BenchPoint& point, double seconds) {
  Workload work(context, point.scheme, point.op, point.count, point.keys);
  work.run();
  std::vector<double> times;
  const Clock::time_point begin = Clock::now();
  while (times.size() < kMinRuns || seconds_since(begin) < seconds) {
    const Clock::time_point start = Clock::now();
    work.run();
    times.push_back(seconds_since(start));
  }
  if (!work.check()) {
    throw CliError(kExitCheckFailed,
                   fmt::format("{} {} of {} gives wrong results", point.scheme.name(), op_name(point.op), point.count),
                   "run 'polykem doctor' and report this");
  }
  std::sort(times.begin(), times.end());
  const double median = times[times.size() / 2];
  return {times.size(), work.checked(), median, times.front(), static_cast<double>(point.count) / median};
}

}  // namespace polykem::cli
