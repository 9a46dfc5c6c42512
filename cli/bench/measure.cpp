// SPDX-License-Identifier: Apache-2.0
#include "bench/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

#include "common/context.hpp"
#include "common/workload.hpp"

namespace polykem::cli {
namespace {

using Clock = std::chrono::steady_clock;

/// A measurement may take this many times --seconds, including key generation and warming up.
constexpr double kMaxTimesSeconds = 3;
/// A measurement may take at least this long, however small --seconds is.
constexpr double kSecondsToSpare = 0.1;

/// The CPU time and the waiting time of this process's threads, in seconds.
struct CpuUse {
  Clock::time_point when;  ///< when `computed` was read
  double computed = 0;     ///< by all threads
  double waited = 0;       ///< by all threads, while they could have computed
  std::size_t threads = 0;
};

CpuUse cpu_use() {
  CpuUse out;
  timespec now{};
  out.when = Clock::now();
  if (::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) == 0)
    out.computed = static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
  std::error_code failed;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", failed)) {
    std::ifstream file(thread.path() / "schedstat");  // nanoseconds on a CPU, nanoseconds in the queue for one
    double ran = 0, waited = 0;
    if (!(file >> ran >> waited)) continue;
    out.waited += waited * 1e-9;
    ++out.threads;
  }
  return out;
}

/// The mean fraction of the time between two readings that a thread waited. It is rough, since threads are read in
/// turn.
double waited_share(const CpuUse& before, const CpuUse& after, double wall) {
  const double threads = static_cast<double>(std::max<std::size_t>({before.threads, after.threads, 1}));
  return std::clamp((after.waited - before.waited) / threads / wall, 0.0, 1.0);
}

double seconds_between(Clock::time_point start, Clock::time_point end) {
  return std::chrono::duration<double>(end - start).count();
}

double seconds_since(Clock::time_point start) {
  return seconds_between(start, Clock::now());
}

}  // namespace

const char* key_mode_name(KeyMode mode) {
  return mode == KeyMode::kShared ? "shared" : "per-item";
}

BenchResult measure(const Context& context, const BenchPoint& point, double seconds, std::size_t memory) {
  const Clock::time_point begin = Clock::now();
  const double max_seconds = std::max(kMaxTimesSeconds * seconds, kSecondsToSpare);
  Workload work(context, point.scheme, point.op, point.count, point.keys, memory);
  work.warm_up();
  std::vector<double> times;
  double timed = 0;
  const CpuUse before = cpu_use();
  do {
    const Clock::time_point start = Clock::now();
    work.run();
    times.push_back(seconds_since(start));
    timed += times.back();
  } while ((times.size() < kMinRuns || timed < seconds) && seconds_since(begin) < max_seconds);
  const CpuUse after = cpu_use();
  const double wall = seconds_between(before.when, after.when);
  if (!work.check()) {
    throw CliError(kExitCheckFailed,
                   fmt::format("{} {} of {} gives wrong results", point.scheme.name(), op_name(point.op), point.count),
                   "run 'polykem doctor' and report this");
  }
  std::sort(times.begin(), times.end());
  const double median = times[times.size() / 2];
  return {times.size(),
          work.in_flight(),
          work.checked(),
          median,
          times.front(),
          static_cast<double>(point.count) / median,
          times[times.size() / 4],
          times[times.size() * 3 / 4],
          times.back(),
          (after.computed - before.computed) / wall,
          waited_share(before, after, wall)};
}

}  // namespace polykem::cli
