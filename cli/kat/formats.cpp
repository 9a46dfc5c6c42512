// SPDX-License-Identifier: Apache-2.0
#include "kat/formats.hpp"

#include <algorithm>

#include "common/context.hpp"
#include "common/exit_codes.hpp"
#include "kat/acvp.hpp"
#include "kat/cctv.hpp"
#include "kat/json_fields.hpp"
#include "kat/vectors.hpp"
#include "kat/wycheproof.hpp"

namespace polykem::cli {
namespace {

KnownAnswers from_nist(KatFile file, const polykem_scheme* only) {
  if (file.scheme.empty() && only == nullptr)
    throw CliError(kExitBadInput, "the file does not name its set", "name it with --scheme");
  const polykem_scheme* handle = file.scheme.empty() ? only : find_set(file.scheme);
  KnownAnswers out;
  if (handle == nullptr) {
    suite_for(out.suites, file.scheme).cases = file.cases.size();
    return out;
  }
  if (file.cases.empty()) throw CliError(kExitBadInput, "the file holds no cases", "is the file complete?");
  const Scheme scheme(handle);
  check_kind(scheme, Sets::kKems, kExitBadInput);
  complete_cases(file, scheme);
  out.suites.push_back(suite_of(file));
  out.suites.back().scheme = scheme.name();
  return out;
}

}  // namespace

KnownAnswers parse_known_answers(std::string_view text, const polykem_scheme* only) {
  const std::size_t start = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  if (start == text.size()) throw CliError(kExitBadInput, "the file is empty");
  if (is_cctv(text)) return {parse_cctv(text), {}};
  if (text[start] != '{' && text[start] != '[') return from_nist(parse_rsp(text), only);
  const Json root = parse_json(text);
  if (is_accumulated(root)) return {{}, parse_accumulated(root)};
  if (is_acvp(root)) return {parse_acvp(root), {}};
  if (is_wycheproof(root)) return {parse_wycheproof(root), {}};
  return from_nist(parse_kat_json(root), only);
}

}  // namespace polykem::cli
