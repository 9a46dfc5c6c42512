// SPDX-License-Identifier: Apache-2.0
// Known-answer files: NIST .rsp text, and the JSON form that contains the coins.
#pragma once

#include <polykem/polykem.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/json_out.hpp"
#include "kat/suite.hpp"

namespace polykem::cli {

/// A changed byte of the ciphertext, and the secret that decaps must then return.
struct RejectCase {
  std::size_t byte = 0;
  std::uint8_t change = 0;  ///< XORed into that byte
  Bytes ss;
};

struct KatCase {
  std::uint64_t count = 0;
  Bytes seed;                        ///< of the NIST generator; may be empty if the coins are given
  Bytes keygen_coins, encaps_coins;  ///< the calls' outputs, concatenated; empty in a .rsp file
  Bytes pk, sk, ct, ss;
  std::vector<RejectCase> rejects;
};

struct KatFile {
  std::string scheme;  ///< as the file names it; may be empty
  std::vector<KatCase> cases;
};

/// Parses a .rsp file. Throws CliError (bad input) naming the line.
KatFile parse_rsp(std::string_view text);

/// Parses the JSON form. Throws CliError (bad input) naming the count.
KatFile parse_kat_json(const Json& root);

/// Fills in missing coins from the seed and checks every length against the set: sizes of the records, and that the
/// coins are exactly what the operations consume. Throws CliError (bad input) naming the count.
void complete_cases(KatFile& file, const Scheme& scheme);

/// The checks of completed cases: per count one of keygen, encaps and decaps, and one of every reject.
Suite suite_of(const KatFile& file);

}  // namespace polykem::cli
