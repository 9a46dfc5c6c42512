// SPDX-License-Identifier: Apache-2.0
// Accumulated hashes: many deterministic rounds of a set, hashed into 32 bytes.
//
// All coins of a run come from one SHAKE128 stream of the empty input: per round the key pair's, the encapsulation's,
// then (if the mode has ssr) a random ciphertext. The result is SHAKE128 over the fields that the mode names, round
// by round; ssr is the secret that decaps returns for the random ciphertext.
#pragma once

#include <polykem/polykem.hpp>

#include <string>
#include <vector>

#include "common/json_out.hpp"
#include "kat/runner.hpp"

namespace polykem::cli {

struct AccumulatedCase {
  std::string mode;  ///< "pk,sk,ct,ss,ssr" or fewer of these
  std::size_t rounds = 0;
  Bytes hash;
};

struct AccumulatedSet {
  std::string scheme;
  std::vector<AccumulatedCase> cases;
};

/// True if the JSON is a file of accumulated hashes.
bool is_accumulated(const Json& root);

/// Throws CliError (bad input) naming the set.
std::vector<AccumulatedSet> parse_accumulated(const Json& root);

/// Runs one case; rounds run in batches of `batch` items; 0: a suitable size. Also checks that every ciphertext
/// decapsulates to the secret of its encapsulation.
Tally run_accumulated(const Context& context, const Scheme& scheme, const AccumulatedCase& wanted, std::size_t batch,
                      const Tick& tick);

}  // namespace polykem::cli
