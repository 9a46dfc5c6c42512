// SPDX-License-Identifier: Apache-2.0
// The text files of C2SP's CCTV for ML-KEM.
//
//  - modulus: one encapsulation key per line, each with one coefficient that is not reduced
//  - strcmp, unluckysample, intermediate: lines "name = value"; d, z, ek, dk, m, c and K are used
// unluckysample and intermediate were made for the draft of FIPS 203, which derives a key pair from d as round-3 Kyber
// does; their key pairs are checked with the Kyber set, their encapsulations and decapsulations with ML-KEM's.
#pragma once

#include <string_view>
#include <vector>

#include "kat/suite.hpp"

namespace polykem::cli {

/// True if the text looks like one of these files.
bool is_cctv(std::string_view text);

/// The files do not name their set; the sizes of their keys determine it. Throws CliError (bad input) naming the line.
std::vector<Suite> parse_cctv(std::string_view text);

}  // namespace polykem::cli
