// SPDX-License-Identifier: Apache-2.0
// Looking up a parameter set by an arbitrary name, and the suggestion for a mistyped one.
#include <string>

#include "common.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string name(reinterpret_cast<const char*>(data), size);
  const polykem_scheme* scheme = nullptr;
  const polykem_status status = polykem_scheme_find(name.c_str(), &scheme);
  polykem::fuzz::require(status == POLYKEM_OK || status == POLYKEM_ERR_UNKNOWN_SCHEME, "found or unknown");
  polykem::fuzz::require((status == POLYKEM_OK) == (scheme != nullptr), "a set exactly when found");
  const char* nearest = polykem_scheme_suggest(name.c_str());
  polykem::fuzz::require(nearest != nullptr, "there is always a nearest name");
  polykem::fuzz::require(polykem_scheme_find(nearest, &scheme) == POLYKEM_OK, "the suggestion exists");
  return 0;
}
