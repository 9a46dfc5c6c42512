// SPDX-License-Identifier: Apache-2.0
// What SIGHUP does: polykemd reads its configuration again and changes what it can while it runs.
#pragma once

#include <string>
#include <vector>

#include "daemon/broker.hpp"
#include "daemon/log.hpp"
#include "daemon/options.hpp"

namespace polykem::cli {

/// What a reload changes.
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
