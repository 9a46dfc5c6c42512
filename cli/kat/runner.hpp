// SPDX-License-Identifier: Apache-2.0
// Runs the checks of a suite in batches with a key per item.
#pragma once

#include <polykem/polykem.hpp>

#include <functional>
#include <string>
#include <vector>

#include "kat/suite.hpp"

namespace polykem::cli {

/// The result. run: number of checks; cases: number of cases of the file that they belong to. A case without a check
/// counts as a failed check.
struct Tally {
  std::size_t cases = 0;
  std::size_t run = 0;
  std::size_t failed = 0;
  std::vector<std::string> messages;  ///< one per failed check, the first kMaxMessages only
  static constexpr std::size_t kMaxMessages = 8;

  void pass() { ++run; }
  void fail(std::string message);
  void add(const Tally& other);
  std::size_t passed() const { return run - failed; }
};

/// Called with the number of items done since the last call.
using Tick = std::function<void(std::size_t)>;

struct RunOptions {
  std::size_t batch = 0;  ///< items per call, the checks repeated to fill every batch; 0: all of an operation at once
  bool key_sets = false;  ///< keys go into key sets first
};

/// Fits a suite to its set: fills in inputs whose value does not matter, and changes an expected error to
/// POLYKEM_ERR_SIZE where a length is wrong. Throws CliError (bad input) naming a check that expects success with a
/// wrong length.
void fit_suite(Suite& suite, const Scheme& scheme);

/// Runs every check of a suite that fits its set.
Tally run_suite(const Context& context, const Scheme& scheme, const Suite& suite, const RunOptions& options,
                const Tick& tick);

/// The number of items that run_suite will compute, for progress.
std::size_t items_of(const Suite& suite, std::size_t batch);

}  // namespace polykem::cli
