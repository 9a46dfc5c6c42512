// SPDX-License-Identifier: Apache-2.0
// polykemd --check: says everything that is wrong with a configuration on this machine, and what it needs at most.
#pragma once

#include <vector>

#include "daemon/settings.hpp"

namespace polykem::cli {

/// What is wrong with a configuration whose settings are well formed: the machine lacks something.
std::vector<Finding> examine(const Configuration& configuration);

/// Prints each on standard error.
void print_findings(const std::vector<Finding>& findings);

/// Returns the exit code.
int check_configuration(const Configuration& configuration);

}  // namespace polykem::cli
