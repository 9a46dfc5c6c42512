// SPDX-License-Identifier: Apache-2.0
// polykemd: computes for the worker processes of this machine.
#pragma once

#include <string>
#include <vector>

#include "daemon/settings.hpp"

namespace polykem::cli {

/// Serves until SIGTERM or SIGINT. arguments: the command line, which SIGHUP reads again, without the program's name.
/// configuration: that of the command line, which must have no findings. Returns the exit code. Throws CliError.
int run_daemon(Configuration configuration, std::vector<std::string> arguments);

}  // namespace polykem::cli
