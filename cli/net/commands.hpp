// SPDX-License-Identifier: Apache-2.0
// The subcommands that use the network: exchange, serve and swarm.
#pragma once

namespace CLI {
class App;
}

namespace polykem::cli {

/// Adds exchange, serve and swarm to `app`; the one that was called runs and sets `exit_code`.
void register_exchange(CLI::App& app, int& exit_code);

namespace net {
void register_exchange_command(CLI::App& app, int& exit_code);
void register_serve_command(CLI::App& app, int& exit_code);
void register_swarm_command(CLI::App& app, int& exit_code);
}  // namespace net

}  // namespace polykem::cli
