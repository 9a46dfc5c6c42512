// SPDX-License-Identifier: Apache-2.0
// The options of polykemd's command line, which are also the settings of its configuration file.
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

/// The configuration file, unless --config names another one.
inline constexpr const char* kDefaultConfig = "/etc/polykem/polykemd.conf";

struct DaemonOptions {
  CommonOptions common;
  std::string config = kDefaultConfig;  ///< empty: no file is read. kDefaultConfig need not exist
  bool check = false;                   ///< check the configuration and exit
  std::string socket;                   ///< empty: systemd's, otherwise $RUNTIME_DIRECTORY/socket
  std::string mode;                     ///< octal; empty: 0600, with allowed users or groups 0666
  std::string uids, gids;               ///< names or numbers, separated by commas
  std::string metrics;                  ///< HOST:PORT; empty: none
  std::string log = "info";             ///< "info" or "warning"
  std::string log_format = "auto";      ///< "auto", "text" or "json"
  std::uint32_t clients = 256, clients_per_user = 128, slots = 256;
  std::uint32_t memory_mib = 0;  ///< 0: memory_mib() chooses a value
  std::size_t batch_items = 1024;
};

/// Adds the options to `app`. Those that are configurable() are also settings, by their names without dashes.
void add_daemon_options(CLI::App& app, DaemonOptions& options);

/// Something that is wrong with polykemd's configuration.
struct Finding {
  std::string where;  ///< "FILE:12"; empty: not in a file
  std::string what, hint;
};

/// The finding as a sentence: "FILE:12: what".
std::string sentence(const Finding& finding);

/// The numeric ids of a list of users or groups. Throw CliError (usage) for unknown names.
std::vector<std::uint32_t> user_ids(const std::string& list);
std::vector<std::uint32_t> group_ids(const std::string& list);

/// The mode of the socket file.
std::uint32_t socket_mode(const DaemonOptions& options);

/// The socket's path if systemd has not opened one.
std::string socket_path(const DaemonOptions& options);

}  // namespace polykem::cli
