// SPDX-License-Identifier: Apache-2.0
// The options that exchange, serve and swarm share.
#pragma once

#include <CLI/CLI.hpp>

#include <chrono>
#include <string>
#include <vector>

#include "common/options.hpp"
#include "net/frame.hpp"
#include "net/operations.hpp"

namespace polykem::cli::net {

struct NetOptions : CommonOptions {
  std::string scheme = "mlkem768";
  std::string role = "server-decaps";
  std::string batch = "auto";
  std::uint32_t linger_us = 0;
  double timeout_seconds = 10;
  int pipe = -1;  ///< in a child process of exchange: the descriptor on which it reports, instead of to people

  Role parsed_role() const { return *role_from_name(role); }
  BatchPolicy policy() const;
  std::chrono::milliseconds timeout() const;
  /// The same options as arguments for a child process, without output options.
  std::vector<std::string> as_arguments() const;
};

/// Adds the options. timeout_seconds: the command's default.
void add_net_options(CLI::App& command, NetOptions& options, double timeout_seconds);

}  // namespace polykem::cli::net
