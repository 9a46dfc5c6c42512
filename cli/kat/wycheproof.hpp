// SPDX-License-Identifier: Apache-2.0
// Project Wycheproof's vectors of ML-KEM (schemas mlkem_*_schema.json) and of ML-DSA.
//
// The inputs and outputs of a test of ML-KEM:
//  - mlkem_test: a key seed and a ciphertext; the key pair's ek and the secret K of decapsulation
//  - mlkem_keygen_seed_test: a key seed; ek and dk
//  - mlkem_encaps_test: ek and m; ciphertext and K
//  - mlkem_semi_expanded_decaps_test: the expanded dk of FIPS 203 and a ciphertext; K
// Tests whose result is "invalid" must be refused: for a length that is wrong, for an encapsulation key with a
// coefficient that is not reduced, for a decapsulation key whose hash is not that of the key inside.
#pragma once

#include <vector>

#include "common/json_out.hpp"
#include "kat/suite.hpp"

namespace polykem::cli {

/// True if the JSON is a Wycheproof file, whatever its algorithm.
bool is_wycheproof(const Json& root);

/// One suite per parameter set. Throws CliError (bad input) naming the test, also for a schema that is not known and
/// if the file holds another number of tests than it says.
std::vector<Suite> parse_wycheproof(const Json& root);

}  // namespace polykem::cli
