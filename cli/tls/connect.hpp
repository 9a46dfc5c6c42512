// SPDX-License-Identifier: Apache-2.0
// polykem tls-check --connect: shows which group a server negotiates.
#pragma once

#include <string>

#include "common/options.hpp"

namespace polykem::cli {

struct ConnectOptions {
  std::string server, modules;
  std::string groups = "all";  ///< or names separated by commas
  double timeout_seconds = 10;
};

/// Returns the exit code. Throws CliError.
int show_group_of_server(const ConnectOptions& options, const CommonOptions& common);

}  // namespace polykem::cli
