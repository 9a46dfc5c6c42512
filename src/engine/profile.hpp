// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <mutex>
#include <span>
#include <vector>

#include "core/scheme.hpp"

namespace polykem {

/// Adds up the time of every step of every operation that ran while it was enabled. Thread-safe.
class Profile {
 public:
  struct Record {
    Op op;
    const char* step;
    const char* stages;
    StepTimes::Entry total;
  };

  bool enabled() const { return enabled_.load(std::memory_order_relaxed); }
  void enable(bool on);
  void add(const Scheme& scheme, Op op, std::span<const StepInfo> steps, const StepTimes& times);

  /// In the order in which the operations first ran, steps in plan order.
  std::vector<Record> read() const;

 private:
  struct Total {
    const Scheme* scheme;
    Op op;
    std::span<const StepInfo> steps;
    StepTimes times;
  };

  std::atomic<bool> enabled_{false};
  mutable std::mutex mutex_;
  std::vector<Total> totals_;
};

/// The names of the stages that a step covers, separated by '+'; static storage.
const char* stage_names(std::span<const Stage> stages, const StepInfo& step);

}  // namespace polykem
