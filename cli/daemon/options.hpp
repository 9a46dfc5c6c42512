// SPDX-License-Identifier: Apache-2.0
// What polykemd is told: options of the command line and settings of its configuration file, by the same names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/options.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): another library's name
class App;
}

namespace polykem::cli {

/// Where settings are unless --config names another file.
inline constexpr const char* kUsualConfig = "/etc/polykem/polykemd.conf";

struct DaemonOptions {
  CommonOptions common;
  std::string config = kUsualConfig;  ///< empty: no file is read. The usual one need not exist
  bool check = false;                 ///< examine the configuration, and end
  std::string socket;                 ///< empty: systemd's, else $RUNTIME_DIRECTORY/socket
  std::string mode;                   ///< octal; empty: 0600, with allowed users or groups 0666
  std::string uids, gids;             ///< names or numbers, separated by commas
  std::string metrics;                ///< HOST:PORT; empty: none
  std::string log = "info";           ///< "info" or "warning"
  std::string log_format = "auto";    ///< "auto", "text" or "json"
  std::uint32_t clients = 256, clients_per_user = 128, slots = 256;
  std::uint32_t memory_mib = 0;  ///< 0: as much as default_memory_mib() says
  std::size_t batch_items = 1024;
};

/// Adds them to `app`. What is configurable() may also stand in the file, without its dashes.
void add_daemon_options(CLI::App& app, DaemonOptions& options);

/// Something that is wrong with what polykemd was told.
struct Finding {
  std::string where;  ///< "FILE:12"; empty: not in a file
  std::string what, hint;
};

/// "FILE:12: what".
std::string sentence(const Finding& finding);

/// The numbers of users and groups in a list. Throw CliError (usage) for names that there are not.
std::vector<std::uint32_t> user_ids(const std::string& list);
std::vector<std::uint32_t> group_ids(const std::string& list);

/// The mode of the socket's file.
std::uint32_t socket_mode(const DaemonOptions& options);

/// The socket's path where systemd has opened none.
std::string socket_path(const DaemonOptions& options);

}  // namespace polykem::cli
