// SPDX-License-Identifier: Apache-2.0
// systemd's protocols for services, without its library: sd_listen_fds(3), sd_notify(3).
#pragma once

#include <cstdint>
#include <string>

namespace polykem::cli {

/// The socket that systemd opened for this process; -1 if there is none. Throws CliError (usage) if there are several.
/// Removes the environment variables that announce it, which children would take for their own.
int inherited_socket();

/// Sends a datagram to a Unix socket; a path that begins with '@' is in the abstract namespace. Returns false on
/// failure.
bool send_datagram(const std::string& path, const std::string& text);

/// Sends a state such as "READY=1" to systemd, if it started this process.
void notify_manager(const std::string& state);

/// The interval in which systemd expects "WATCHDOG=1", in microseconds; 0: none.
std::uint64_t watchdog_us();

/// True if standard error is connected to the journal, which reads a priority from the beginning of a line.
bool logs_to_journal();

}  // namespace polykem::cli
