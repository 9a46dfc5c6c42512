// SPDX-License-Identifier: Apache-2.0
// polykemd: computes for the worker processes of this machine.
#pragma once

#include <string>
#include <vector>

#include "daemon/settings.hpp"

namespace polykem::cli {

/// Runs until SIGTERM or SIGINT; SIGHUP reads the configuration of the command line `words` again. configuration: what
/// that was, without findings. Returns an exit code; throws CliError.
int run_daemon(Configuration configuration, std::vector<std::string> words);

}  // namespace polykem::cli
