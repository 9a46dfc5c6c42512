// SPDX-License-Identifier: Apache-2.0
// By itself, since it is compiled anew for every commit.
#include "common/commit.hpp"

namespace polykem::cli {

std::string build_commit() {
  return POLYKEM_CLI_COMMIT;
}

}  // namespace polykem::cli
