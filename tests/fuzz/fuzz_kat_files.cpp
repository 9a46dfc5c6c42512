// SPDX-License-Identifier: Apache-2.0
// Known-answer files of every format: refused with an error, or checks that fit their set.
#include <string_view>

#include "common.hpp"
#include "common/context.hpp"
#include "common/exit_codes.hpp"
#include "kat/formats.hpp"
#include "kat/runner.hpp"

using namespace polykem;
using namespace polykem::cli;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    KnownAnswers answers = parse_known_answers(text, nullptr);
    fuzz::require(answers.suites.empty() || answers.accumulated.empty(), "a file is of one kind");
    for (Suite& suite : answers.suites) {
      const polykem_scheme* handle = find_set(suite.scheme);
      if (handle == nullptr) continue;
      const Scheme scheme(handle);
      fit_suite(suite, scheme);
      for (const Check& check : suite.checks) {
        fuzz::require(check.number < suite.cases, "a check belongs to a case");
        const bool fits = check.op != POLYKEM_ENCAPS || check.pk.size() == scheme.public_key_bytes();
        fuzz::require(fits || check.want != POLYKEM_OK, "a public key of the set's size");
      }
    }
  } catch (const CliError&) {
  }
  return 0;
}
