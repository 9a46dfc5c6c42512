// SPDX-License-Identifier: Apache-2.0
// NIST's ACVP vectors of ML-KEM and ML-DSA, internalProjection.json: inputs and expected results in one file.
//
// ML-KEM: modes keyGen and encapDecap, revisions FIPS203 and FIPS203-tr1. Of encapDecap: encapsulation, decapsulation
// with the key in its expanded form or (tr1) as its seed d || z, and the checks of both kinds of keys.
// ML-DSA: modes keyGen, sigGen and sigVer, revision FIPS204, with the interfaces external (pure and pre-hash) and
// internal (M' or mu). Groups that name no interface, in older releases, have the internal one.
#pragma once

#include <vector>

#include "common/json_out.hpp"
#include "kat/suite.hpp"

namespace polykem::cli {

/// True if the JSON is an ACVP file, whatever its algorithm.
bool is_acvp(const Json& root);

/// One suite per parameter set. Throws CliError (bad input) naming group and test, also for an algorithm, mode or
/// function that is not known.
std::vector<Suite> parse_acvp(const Json& root);

}  // namespace polykem::cli
