// SPDX-License-Identifier: Apache-2.0
// One point of a benchmark: an operation, a batch size, and one key or a key per item.
#pragma once

#include <polykem/polykem.hpp>

#include <cstddef>
#include <string>

namespace polykem::cli {

/// With fewer runs no spread is stated.
inline constexpr std::size_t kMinRuns = 3;

struct BenchPoint {
  Scheme scheme;
  polykem_op op;
  std::size_t count;
  KeyMode keys;
};

struct BenchResult {
  std::size_t runs;
  std::size_t in_flight;                ///< items in memory at once; less than count: the batch ran in parts
  std::size_t checked;                  ///< items whose results were verified after the last run
  double median_seconds, best_seconds;  ///< of one batch
  double ops_per_second;                ///< count / median_seconds
  double first_quartile, third_quartile, worst_seconds;
  double cpu_share;     ///< CPU time of the process over the time of the timed runs: about how many CPUs it had
  double waited_share;  ///< the part of that time for which a thread waited for a CPU, in the mean of all threads; 0 if
                        ///< the kernel does not say

  /// The middle half of the runs, over the median.
  double spread() const { return (third_quartile - first_quartile) / median_seconds; }
};

/// Repeats the batch for at least `seconds` and three times, after one run to warm up, then verifies the outputs. It
/// stops sooner, but after at least one timed batch, when everything together, including making the keys, has taken
/// three times `seconds`. memory: bytes of records to hold at most. Only the calls are timed. Throws CliError (check
/// failed) if outputs are wrong.
BenchResult measure(const Context& context, const BenchPoint& point, double seconds, std::size_t memory);

/// The key mode's name: "per-item" or "shared".
const char* key_mode_name(KeyMode mode);

}  // namespace polykem::cli
