// SPDX-License-Identifier: Apache-2.0
// Runs known answers in batches with a key per item.
#pragma once

#include <polykem/polykem.hpp>

#include <functional>
#include <string>
#include <vector>

#include "kat/vectors.hpp"

namespace polykem::cli {

/** What came out. A case is one operation of one count: keygen, encaps, decaps, or one reject. */
struct Tally {
  std::size_t run = 0;
  std::size_t failed = 0;
  std::vector<std::string> messages; /**< one per failed case, the first kMaxMessages only */
  static constexpr std::size_t kMaxMessages = 8;

  void pass() { ++run; }
  void fail(std::string message);
  void add(const Tally& other);
  std::size_t passed() const { return run - failed; }
};

/** Called with the number of items done since the last call. */
using Tick = std::function<void(std::size_t)>;

/** Runs every case of `file` (complete_cases has been called): keygen, encaps, decaps, rejects. batch: items per call;
 * the cases are repeated to fill every batch. 0: all cases of an operation in one batch. */
Tally run_cases(const Context& context, const Scheme& scheme, const KatFile& file, std::size_t batch, const Tick& tick);

/** Items that run_cases will compute, for progress. */
std::size_t items_of(const KatFile& file, std::size_t batch);

}  // namespace polykem::cli
