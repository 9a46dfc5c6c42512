// SPDX-License-Identifier: Apache-2.0
// What a service says to systemd and hears from it, without its library: sd_listen_fds(3), sd_notify(3).
#pragma once

#include <string>

namespace polykem::cli {

/// The socket that systemd has opened for this process, -1 if there is none. Throws CliError (usage) if it has opened
/// several. The variables that say so are removed, so that children do not take them for theirs.
int inherited_socket();

/// Tells systemd, if it started this process: "READY=1".
void notify_manager(const std::string& state);

/// True if standard error goes to the journal, which reads a priority from the front of a line.
bool logs_to_journal();

}  // namespace polykem::cli
