// SPDX-License-Identifier: Apache-2.0
// By itself, since it is compiled anew for every commit.
#include "common/commit.hpp"

#ifndef POLYKEM_CLI_COMMIT  // tests/kat where the program is not built
#define POLYKEM_CLI_COMMIT "unknown"
#endif

namespace polykem::cli {

std::string build_commit() {
  return POLYKEM_CLI_COMMIT;
}

}  // namespace polykem::cli
