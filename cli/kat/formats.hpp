// SPDX-License-Identifier: Apache-2.0
// Recognises known-answer files by their contents.
#pragma once

#include <polykem/polykem.hpp>

#include <string_view>
#include <vector>

#include "kat/accumulated.hpp"
#include "kat/suite.hpp"

namespace polykem::cli {

/// The contents of a file. One of the two is empty.
struct KnownAnswers {
  std::vector<Suite> suites;  ///< not fitted yet; a suite of a set that this build lacks has no checks
  std::vector<AccumulatedSet> accumulated;
};

/// Reads NIST .rsp text and its JSON form, accumulated hashes, and ACVP, Wycheproof and CCTV files. only: the set of a
/// .rsp or JSON file that does not name one; may be nullptr. Throws CliError (bad input).
KnownAnswers parse_known_answers(std::string_view text, const polykem_scheme* only);

}  // namespace polykem::cli
