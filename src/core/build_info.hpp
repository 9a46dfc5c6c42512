// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace polykem {

/// What the module, or a program that measures a GPU, was built from (cmake/build_info.cmake).
struct BuildInfo {
  const char* commit;   ///< with "-dirty" if files differed from it; "unknown" where it was not
  const char* sources;  ///< the first 16 digits of a hash of the files themselves
};
extern const BuildInfo kBuild;

/// Returns both as members of a JSON object, without braces.
inline std::string json_of(const BuildInfo& build) {
  return std::string("\"commit\": \"") + build.commit + "\", \"sources\": \"" + build.sources + '"';
}

}  // namespace polykem
