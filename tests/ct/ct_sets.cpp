// SPDX-License-Identifier: Apache-2.0
// Compares the parameter sets that tests/ct/CMakeLists.txt checks with those of the library, and the suites of HPKE
// with its algorithms, each of which has to be in one: nothing new may be left out.
//
//   ct_sets SET|KEM/KDF/AEAD...
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

#include "polykem/polykem.h"

#ifdef POLYKEM_CT_HPKE
#include "hpke/suite.hpp"
#endif

namespace {

using Names = std::set<std::string>;

/// Prints what `names` has and `others` has not; returns whether there is any.
bool any_missing(const Names& names, const Names& others, const char* what) {
  Names missing;
  std::set_difference(names.begin(), names.end(), others.begin(), others.end(),
                      std::inserter(missing, missing.begin()));
  for (const std::string& name : missing)
    std::printf("%s: %s\n", name.c_str(), what);
  return !missing.empty();
}

Names sets_of_the_library() {
  Names out;
  const auto add = [&](const polykem_scheme* scheme) {
    polykem_scheme_info_t info{};
    info.struct_size = sizeof info;
    if (polykem_scheme_info(scheme, &info) == POLYKEM_OK) out.insert(info.name);
  };
  for (size_t i = 0; i < polykem_scheme_count(); ++i)
    add(polykem_scheme_at(i));
  for (size_t i = 0; i < polykem_signature_count(); ++i)
    add(polykem_signature_at(i));
  return out;
}

/// Prints which of HPKE's algorithms are not named, a KEM by either name; returns whether there is any.
bool any_algorithm_missing([[maybe_unused]] const Names& named) {
  Names missing;
#ifdef POLYKEM_CT_HPKE
  for (const auto& kem : polykem::hpke::kems())
    if (named.count(std::string(kem.name)) + named.count(std::string(kem.alias)) == 0) missing.emplace(kem.name);
  for (const auto& kdf : polykem::hpke::kdfs())
    if (named.count(std::string(kdf.name)) == 0) missing.emplace(kdf.name);
  for (const auto& aead : polykem::hpke::aeads())
    if (named.count(std::string(aead.name)) == 0) missing.emplace(aead.name);
#endif
  return any_missing(missing, {}, "no constant-time check of a suite with it");
}

}  // namespace

int main(int argc, char** argv) {
  Names sets, algorithms;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name.find('/') == std::string::npos) {
      sets.insert(name);
    } else {
      std::istringstream parts(name);
      for (std::string part; std::getline(parts, part, '/');)
        algorithms.insert(part);
    }
  }
  bool wrong = any_missing(sets_of_the_library(), sets, "no constant-time check of this set");
  wrong |= any_missing(sets, sets_of_the_library(), "the library has no such set");
  wrong |= any_algorithm_missing(algorithms);
  return wrong ? 1 : 0;
}
