// SPDX-License-Identifier: Apache-2.0
// On SIGHUP, polykemd reads its configuration again and applies the settings that can change while it runs.
#pragma once

#include <string>
#include <vector>

#include "daemon/broker.hpp"
#include "daemon/log.hpp"
#include "daemon/options.hpp"

namespace polykem::cli {

/// The parts of the daemon that a reload changes or uses.
struct Reloadable {
  DaemonOptions& options;
  Log& log;
  polykem_broker* broker;
  const ListeningSocket& socket;
};

/// Reads the configuration of the command line `arguments` again. If anything in it is wrong, nothing changes and the
/// log says why. Connected clients keep what they have.
void reload(Reloadable daemon, const std::vector<std::string>& arguments);

/// Logs a warning if the memory that workers share may be swapped out.
void warn_if_swappable(const Log& log, const DaemonOptions& options);

}  // namespace polykem::cli
