// SPDX-License-Identifier: Apache-2.0
// polykemd --check: lists everything that is wrong with a configuration on this machine, and its limits.
#pragma once

#include <vector>

#include "daemon/settings.hpp"

namespace polykem::cli {

/// The findings about a configuration on this machine: the backend, the socket's folder and limits.
std::vector<Finding> examine(const Configuration& configuration);

/// Prints the findings on standard error.
void print_findings(const std::vector<Finding>& findings);

/// Prints the result of polykemd --check. Returns the exit code.
int check_configuration(const Configuration& configuration);

}  // namespace polykem::cli
