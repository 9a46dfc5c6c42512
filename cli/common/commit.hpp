// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace polykem::cli {

/// The source this program was built from, or "unknown".
std::string build_commit();

}  // namespace polykem::cli
