// SPDX-License-Identifier: Apache-2.0
// Known-answer files in their .rsp text form: refused with an error, or complete cases of the set's sizes.
#include <string_view>

#include "common.hpp"
#include "common/exit_codes.hpp"
#include "kat/vectors.hpp"

using namespace polykem;
using namespace polykem::cli;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Scheme scheme = Scheme::find("ntruhps2048509");
  try {
    KatFile file = parse_rsp(text);
    complete_cases(file, scheme);
    for (const KatCase& one : file.cases) {
      fuzz::require(one.pk.size() == scheme.public_key_bytes(), "a public key of the set's size");
      fuzz::require(one.keygen_coins.size() == scheme.info().keygen_coin_bytes, "coins of the set's size");
    }
  } catch (const CliError&) {
  }
  return 0;
}
