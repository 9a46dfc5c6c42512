// SPDX-License-Identifier: Apache-2.0
#include "engine/profile.hpp"

#include <map>
#include <memory>

namespace polykem {

void Profile::enable(bool on) {
  const std::lock_guard lock(mutex_);
  if (on) totals_.clear();
  enabled_.store(on, std::memory_order_relaxed);
}

void Profile::add(Op op, const Operation& operation, const StepTimes& times) {
  const std::lock_guard lock(mutex_);
  Total* total = nullptr;
  for (Total& known : totals_) {
    if (known.operation == &operation) total = &known;
  }
  if (total == nullptr) total = &totals_.emplace_back(Total{op, &operation, {}});
  for (size_t i = 0; i < operation.steps.size(); ++i) {
    total->times.entries[i].calls += times.entries[i].calls;
    total->times.entries[i].items += times.entries[i].items;
    total->times.entries[i].nanoseconds += times.entries[i].nanoseconds;
  }
}

std::vector<Profile::Record> Profile::read() const {
  const std::lock_guard lock(mutex_);
  std::vector<Record> records;
  for (const Total& total : totals_) {
    for (size_t i = 0; i < total.operation->steps.size(); ++i) {
      records.push_back(
          {total.op, total.operation->steps[i].name, stage_names(*total.operation, i), total.times.entries[i]});
    }
  }
  return records;
}

const char* stage_names(const Operation& operation, size_t index) {
  static std::mutex mutex;
  static std::map<const StepInfo*, std::unique_ptr<const std::string>> known;
  const std::lock_guard lock(mutex);
  const StepInfo& step = operation.steps[index];
  auto& entry = known[&step];
  if (entry == nullptr) {
    std::string names;
    for (size_t i = step.first; i < step.first + size_t{step.count}; ++i) {
      if (!names.empty()) names += '+';
      names += operation.stages[i].name;
    }
    entry = std::make_unique<const std::string>(std::move(names));
  }
  return entry->c_str();
}

}  // namespace polykem
