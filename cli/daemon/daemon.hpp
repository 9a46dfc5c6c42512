// SPDX-License-Identifier: Apache-2.0
// polykemd: computes for the worker processes of this machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "common/options.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): another library's name
class App;
}

namespace polykem::cli {

struct DaemonOptions {
  CommonOptions common;
  std::string socket;        ///< empty: systemd's, else $RUNTIME_DIRECTORY/socket
  std::string mode;          ///< octal; empty: 0600, with allowed users or groups 0666
  std::string uids, gids;    ///< names or numbers, separated by commas
  std::string metrics;       ///< HOST:PORT; empty: none
  std::string log = "info";  ///< "info" or "warning"
  std::uint32_t clients = 256, clients_per_user = 128, slots = 256, memory_mib = 4096;
  std::size_t batch_items = 1024;
};

void add_daemon_options(CLI::App& app, DaemonOptions& options);

/// Runs until SIGTERM or SIGINT. Returns an exit code; throws CliError.
int run_daemon(const DaemonOptions& options);

}  // namespace polykem::cli
