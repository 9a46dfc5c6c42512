// SPDX-License-Identifier: Apache-2.0
#include "profile/stages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "common/context.hpp"
#include "common/workload.hpp"

namespace polykem::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kDefaultBatch = 256;
/// A batch that fills an H200 with a thread for each item: 128 threads on each of 132 multiprocessors.
constexpr std::size_t kGpuBatch = std::size_t{132} * 128;
/// The bytes of records in a batch on the CPU, which determine its number of items.
constexpr std::size_t kMemory = std::size_t{2} << 30;
constexpr std::size_t kMaxCount = 1'000'000;

std::string base_name(const std::string& stage) {
  return stage.substr(0, stage.find('.'));
}

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names)
    out += (out.empty() ? "" : " + ") + name;
  return out;
}

/// The name of a row. A step that covers several stages shows their names, so that it is clear what was fused.
std::string row_name(const polykem_step_record& record, bool merge) {
  std::vector<std::string> stages;
  for (const std::string& stage : split(record.stages, '+')) {
    const std::string name = merge ? base_name(stage) : stage;
    if (std::find(stages.begin(), stages.end(), name) == stages.end()) stages.push_back(name);
  }
  if (stages.empty()) return record.step;
  if (stages.size() == 1) return stages.front();
  const std::string step = record.step;
  return step == record.stages ? joined(stages) : fmt::format("{} ({})", step, joined(stages));
}

std::vector<StageTime> rows_of(const std::vector<polykem_step_record>& records, polykem_op op, bool merge) {
  std::vector<StageTime> out;
  for (const polykem_step_record& record : records) {
    if (record.op != op) continue;
    const std::string name = row_name(record, merge);
    auto row = std::find_if(out.begin(), out.end(), [&](const StageTime& t) { return merge && t.name == name; });
    if (row == out.end()) row = out.insert(out.end(), StageTime{name, 0, 0, 0, 0, 0, {}});
    row->steps += 1;
    row->calls += record.calls;
    row->items += record.items;
    row->nanoseconds += record.nanoseconds;
    row->cycles += record.cycles;
    for (const std::string& stage : split(record.stages, '+'))
      row->covers.push_back(stage);
  }
  return out;
}

std::uint64_t time_run(Workload& work) {
  const Clock::time_point start = Clock::now();
  work.run();
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(Clock::now() - start).count());
}

/// The number of operations that take about `seconds` in batches of `batch`. The first run is for warming up.
double calibrated(const Context& context, const Scheme& scheme, polykem_op op, double seconds, std::size_t batch) {
  Workload work(context, scheme, op, batch, KeyMode::kPerItem, kMemory);
  work.run();
  const double per_operation = static_cast<double>(time_run(work)) * 1e-9 / static_cast<double>(batch);
  return std::min(seconds / std::max(per_operation, 1e-9), static_cast<double>(kMaxCount));
}

/// The largest of 10, 20, 50, 100, ... that is not above `wanted`; at least 10.
std::size_t round_number(double wanted) {
  std::size_t count = 10;
  for (const std::size_t factor : {2U, 5U, 10U}) {
    for (std::size_t ten = 10; ten * factor <= static_cast<std::size_t>(wanted); ten *= 10) {
      count = std::max(count, ten * factor);
    }
  }
  return count;
}

}  // namespace

std::uint64_t OpProfile::stage_nanoseconds() const {
  std::uint64_t sum = 0;
  for (const StageTime& stage : stages)
    sum += stage.nanoseconds;
  return sum;
}

bool OpProfile::has_cycles() const {
  return std::any_of(stages.begin(), stages.end(), [](const StageTime& stage) { return stage.cycles > 0; });
}

std::uint64_t OpProfile::total_nanoseconds() const {
  return threads == 1 ? std::max(wall_nanoseconds, stage_nanoseconds()) : stage_nanoseconds();
}

OpProfile measure_profile(const Context& context, const Scheme& scheme, polykem_op op, std::size_t count,
                          std::size_t batch, double seconds, bool merge) {
  const bool on_gpu = context.backend(scheme) == "cuda";
  if (batch == 0) batch = on_gpu ? kGpuBatch : kDefaultBatch;
  if (count == 0 && on_gpu) {  // whole batches
    count = batch *
            std::max<std::size_t>(1, static_cast<std::size_t>(calibrated(context, scheme, op, seconds, batch)) / batch);
  } else if (count == 0) {
    count = round_number(calibrated(context, scheme, op, seconds, 16));
  }
  batch = std::min(batch, count);
  OpProfile out{op, 0, batch, 0, context.threads(), {}};
  Workload work(context, scheme, op, batch, KeyMode::kPerItem, kMemory);
  const std::size_t rest = count % batch;
  Workload last(context, scheme, op, rest == 0 ? 1 : rest, KeyMode::kPerItem, kMemory);
  work.run();
  context.profile(true);
  for (; out.count + batch <= count; out.count += batch)
    out.wall_nanoseconds += time_run(work);
  if (rest != 0) out.wall_nanoseconds += time_run(last);
  out.count += rest;
  const std::vector<polykem_step_record> records = context.profile_records();
  context.profile(false);
  if (!work.check() || (rest != 0 && !last.check())) {
    throw CliError(kExitCheckFailed, fmt::format("{} {} gives wrong results", scheme.name(), op_name(op)),
                   "run 'polykem doctor' and report this");
  }
  out.stages = rows_of(records, op, merge);
  return out;
}

}  // namespace polykem::cli
