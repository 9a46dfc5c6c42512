// SPDX-License-Identifier: Apache-2.0
// The time of one operation by stage, from the library's recorder.
#pragma once

#include <polykem/polykem.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace polykem::cli {

/// One row: a step of the plan, or several that do the same (poly_Rq_mul.fg and poly_Rq_mul.Gf are poly_Rq_mul).
struct StageTime {
  std::string name;     ///< the stage's name; for fused stages the step's name and the stages that it covers
  std::uint64_t steps;  ///< steps of the plan in this row
  std::uint64_t calls;  ///< how often the steps ran, over chunks of the batch
  std::uint64_t items;
  std::uint64_t nanoseconds;        ///< summed over threads
  std::uint64_t cycles;             ///< from a device's own counter; 0: it has none
  std::vector<std::string> covers;  ///< the stages of its steps
};

/// All stages of one operation of one set.
struct OpProfile {
  polykem_op op;
  std::uint64_t count;             ///< operations measured
  std::uint64_t batch;             ///< operations per call, at most
  std::uint64_t wall_nanoseconds;  ///< duration of the calls as a whole
  unsigned threads;
  std::vector<StageTime> stages;  ///< in plan order

  std::uint64_t stage_nanoseconds() const;
  /// True if a device counted cycles.
  bool has_cycles() const;
  /// The time that counts as 100 %: with one thread the duration of the calls, with several the sum of all their
  /// stages.
  std::uint64_t total_nanoseconds() const;
};

/// Measures `count` operations, each with its own key, in batches of `batch`. count 0: as many as take about `seconds`.
/// merge: adds up steps that do the same. Throws CliError (check failed) if outputs are wrong.
OpProfile measure_profile(const Context& context, const Scheme& scheme, polykem_op op, std::size_t count,
                          std::size_t batch, double seconds, bool merge);

}  // namespace polykem::cli
