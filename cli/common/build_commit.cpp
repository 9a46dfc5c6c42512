// SPDX-License-Identifier: Apache-2.0
// In a file of its own, since it is recompiled for every commit.
#include "common/build_commit.hpp"

namespace polykem::cli {

std::string build_commit() {
  return POLYKEM_CLI_COMMIT;
}

}  // namespace polykem::cli
