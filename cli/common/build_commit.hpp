// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace polykem::cli {

/// The commit that this program was built from, or "unknown".
std::string build_commit();

}  // namespace polykem::cli
