// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/isa.hpp"

namespace polykem {

/// One logical stage of an operation: its name, its place in the specification, and its shapes. The name is the
/// standard's where there is one, in snake case (ML-KEM's "sample_ntt" is SampleNTT), and otherwise that of the
/// function of the scheme's reference implementation that does the same.
struct Stage {
  const char* name;   ///< e.g. "poly_Rq_mul.cf": the text before '.' is the function, after it the use
  const char* spec;   ///< citation, e.g. "[NTRU20, Lift]"
  const char* shape;  ///< "inputs -> outputs"
};

/// The stages that one step of a backend covers: [first, first + count) of its operation, and those in `ahead`, which
/// come later in the specification but need nothing that is computed in between. Neighbouring tiled steps are repeated
/// as a group, once for each tile, where the data is too large to be kept whole.
struct StepInfo {
  const char* name;
  uint8_t first;
  uint8_t count;
  bool tiled = false;
  uint32_t ahead = 0;  ///< bit s: stage s too

  /// All stages, bit s for stage s.
  constexpr uint64_t stages() const { return (((uint64_t{1} << count) - 1) << first) | ahead; }
};

/// The stages of a step, as plan_of() takes them: one, or all from `first` to `last`. A step that is given no name
/// has the name of its stage.
struct StepStages {
  constexpr StepStages(const char* stage) : StepStages(stage, stage, stage) {}
  constexpr StepStages(const char* step, const char* stage) : StepStages(step, stage, stage) {}
  constexpr StepStages(const char* step, const char* first_stage, const char* last_stage)
      : name(step), first(first_stage), last(last_stage) {}

  const char *name, *first, *last;
  bool is_tiled = false;
  std::array<const char*, 2> ahead{};  ///< stages for StepInfo::ahead, or nullptr
};

constexpr StepStages tiled(StepStages step) {
  step.is_tiled = true;
  return step;
}

constexpr StepStages with_ahead(StepStages step, const char* stage, const char* another = nullptr) {
  step.ahead = {stage, another};
  return step;
}

/// A step and its code. `State` is the backend's data of an operation in progress: the items and their
/// working memory.
template <class State, class Info = StepInfo>
struct Step {
  Info info;
  void (*run)(State&);
};

/// True if the steps cover every one of `stages` stages exactly once: in order, but for what is done ahead.
template <class Steps>
constexpr bool covers_each_stage_once(const Steps& steps, size_t stages) {
  uint64_t covered = 0;
  for (const auto& step : steps) {
    const StepInfo& info = step.info;
    const uint64_t before = (uint64_t{1} << info.first) - 1;
    if (info.count == 0 || (covered & before) != before || (covered & info.stages()) != 0) return false;
    if ((info.ahead & (2 * before + 1)) != 0) return false;
    covered |= info.stages();
  }
  return covered == (uint64_t{1} << stages) - 1;
}

/// Declared but not constexpr: a plan whose evaluation calls one of them does not compile.
void no_stage_has_this_name();
void not_every_stage_is_covered_once();

/// The number of a stage in its operation.
constexpr size_t stage_number(std::span<const Stage> stages, std::string_view name) {
  for (size_t i = 0; i < stages.size(); ++i) {
    if (stages[i].name == name) return i;
  }
  no_stage_has_this_name();
  return stages.size();
}

constexpr StepInfo step_info(std::span<const Stage> stages, const StepStages& step) {
  const size_t first = stage_number(stages, step.first), last = stage_number(stages, step.last);
  uint32_t ahead = 0;
  for (const char* stage : step.ahead)
    ahead |= stage == nullptr ? 0 : uint32_t{1} << stage_number(stages, stage);
  return {step.name, static_cast<uint8_t>(first), static_cast<uint8_t>(last + 1 - first), step.is_tiled, ahead};
}

/// The plan of an operation; it must cover each of the operation's stages once.
template <const auto& kStages, class State, size_t N>
constexpr std::array<Step<State>, N> plan_of(const Step<State, StepStages> (&steps)[N]) {
  std::array<Step<State>, N> plan{};
  for (size_t i = 0; i < N; ++i)
    plan[i] = {step_info(kStages, steps[i].info), steps[i].run};
  if (!covers_each_stage_once(plan, kStages.size())) not_every_stage_is_covered_once();
  return plan;
}

/// A step for each stage.
template <size_t N>
consteval std::array<StepInfo, N> a_step_each(const std::array<Stage, N>& stages) {
  std::array<StepInfo, N> infos{};
  for (size_t i = 0; i < N; ++i)
    infos[i] = step_info(stages, stages[i].name);
  return infos;
}

template <class State, size_t N>
consteval std::array<StepInfo, N> step_infos(const std::array<Step<State>, N>& steps) {
  std::array<StepInfo, N> infos{};
  for (size_t i = 0; i < N; ++i)
    infos[i] = steps[i].info;
  return infos;
}

/// The longest plan that a recorder can hold.
inline constexpr size_t kMaxSteps = 32;

/// The time of each step of a plan. cycles: from a device's own counter; 0 if it has none.
struct StepTimes {
  struct Entry {
    uint64_t calls = 0, items = 0, nanoseconds = 0, cycles = 0;
  };
  std::array<Entry, kMaxSteps> entries{};
};

inline namespace POLYKEM_ISA {

/// Adds the time since the previous call to an entry of `times`, which may be nullptr.
class StepClock {
 public:
  explicit StepClock(StepTimes* times) : times_(times) {
    if (times_ != nullptr) begin_ = Clock::now();
  }

  void stop(size_t step, size_t items) {
    if (times_ == nullptr) return;
    const auto end = Clock::now();
    auto& entry = times_->entries[step];
    entry.calls += 1;
    entry.items += items;
    entry.nanoseconds += static_cast<uint64_t>(std::chrono::nanoseconds(end - begin_).count());
    begin_ = end;
  }

 private:
  using Clock = std::chrono::steady_clock;

  StepTimes* times_;
  Clock::time_point begin_;
};

/// Runs all steps but the last of a plan without tiled steps, on one item.
template <class State, size_t N>
void run_all_but_last(const std::array<Step<State>, N>& steps, State& state, StepTimes* times) {
  static_assert(!requires { state.next_tile(); });
  StepClock clock(times);
  for (size_t i = 0; i + 1 < N; ++i) {
    steps[i].run(state);
    clock.stop(i, 1);
  }
}

/// Returns the end of the group that begins with step `begin`: neighbouring tiled steps, which are repeated together,
/// or one step.
template <class Steps>
constexpr size_t group_end(const Steps& steps, size_t begin) {
  size_t end = begin + 1;
  while (steps[begin].info.tiled && end < steps.size() && steps[end].info.tiled)
    ++end;
  return end;
}

/// Moves on to the next tile after a round of the group that begins with `first`. Returns false if there is none.
template <class State>
bool next_round(const Step<State>& first, State& state) {
  if constexpr (requires { state.next_tile(); }) {
    return first.info.tiled && state.next_tile();
  } else {
    return false;
  }
}

/// Runs the steps of a plan in order. Measures each step if `times` is given; costs nothing otherwise.
/// If the plan has tiled steps, State has bool next_tile(), which is called after each round of them and returns
/// true while there is another tile.
template <class State, size_t N>
void run_plan(const std::array<Step<State>, N>& steps, State& state, size_t items, StepTimes* times) {
  static_assert(N <= kMaxSteps);
  StepClock clock(times);
  bool first_round = true;
  for (size_t begin = 0; begin < N;) {
    const size_t end = group_end(steps, begin);
    for (size_t i = begin; i < end; ++i) {
      steps[i].run(state);
      clock.stop(i, first_round ? items : 0);
    }
    first_round = !next_round(steps[begin], state);
    if (first_round) begin = end;
  }
}

}  // namespace POLYKEM_ISA

}  // namespace polykem
