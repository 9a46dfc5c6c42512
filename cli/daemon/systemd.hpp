// SPDX-License-Identifier: Apache-2.0
// What a service says to systemd and hears from it, without its library: sd_listen_fds(3), sd_notify(3).
#pragma once

#include <cstdint>
#include <string>

namespace polykem::cli {

/// The socket that systemd has opened for this process, -1 if there is none. Throws CliError (usage) if it has opened
/// several. The variables that say so are removed, so that children do not take them for theirs.
int inherited_socket();

/// Sends a datagram to a Unix socket; '@' at the beginning of its path stands for the abstract namespace. False if it
/// was not taken.
bool send_datagram(const std::string& path, const std::string& text);

/// Tells systemd, if it started this process: "READY=1".
void notify_manager(const std::string& state);

/// How often systemd wants to hear "WATCHDOG=1", in microseconds; 0: it does not.
std::uint64_t watchdog_us();

/// True if standard error goes to the journal, which reads a priority from the front of a line.
bool logs_to_journal();

}  // namespace polykem::cli
