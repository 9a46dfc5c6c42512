// SPDX-License-Identifier: Apache-2.0
#include "engine/profile.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "engine/static_text.hpp"

namespace polykem {

void Profile::enable(bool on) {
  const std::lock_guard lock(mutex_);
  if (on) totals_.clear();
  enabled_.store(on, std::memory_order_relaxed);
}

namespace {

bool same_steps(std::span<const StepInfo> a, std::span<const StepInfo> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const StepInfo& x, const StepInfo& y) {
    return std::string_view(x.name) == y.name && x.stages() == y.stages();
  });
}

}  // namespace

/// Adds up implementations of an operation that have the same steps.
void Profile::add(const Scheme& scheme, Op op, std::span<const StepInfo> steps, const StepTimes& times) {
  const std::lock_guard lock(mutex_);
  auto total = std::find_if(totals_.begin(), totals_.end(), [&](const Total& t) {
    return t.scheme == &scheme && t.op == op && same_steps(t.steps, steps);
  });
  if (total == totals_.end()) total = totals_.insert(total, {&scheme, op, steps, {}});
  for (size_t i = 0; i < steps.size(); ++i) {
    total->times.entries[i].calls += times.entries[i].calls;
    total->times.entries[i].items += times.entries[i].items;
    total->times.entries[i].nanoseconds += times.entries[i].nanoseconds;
    total->times.entries[i].cycles += times.entries[i].cycles;
  }
}

std::vector<Profile::Record> Profile::read() const {
  const std::lock_guard lock(mutex_);
  std::vector<Record> records;
  for (const Total& total : totals_) {
    for (size_t i = 0; i < total.steps.size(); ++i) {
      const StepInfo& step = total.steps[i];
      records.push_back(
          {total.op, step.name, stage_names(total.scheme->stages.of(total.op), step), total.times.entries[i]});
    }
  }
  return records;
}

const char* stage_names(std::span<const Stage> stages, const StepInfo& step) {
  std::string names;
  for (size_t i = 0; i < stages.size(); ++i) {
    if ((step.stages() >> i & 1) == 0) continue;
    if (!names.empty()) names += '+';
    names += stages[i].name;
  }
  return static_text(names);
}

}  // namespace polykem
