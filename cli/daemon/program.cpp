// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "common/build_commit.hpp"
#include "common/context.hpp"
#include "common/exit_codes.hpp"
#include "common/json_out.hpp"
#include "daemon/check.hpp"
#include "daemon/daemon.hpp"
#include "daemon/settings.hpp"
#include "help/command_tree.hpp"
#include "help/help_text.hpp"
#include "help/unknown_option.hpp"

namespace polykem::cli {
namespace {

constexpr const char* kDaemonFooter =
    "Examples:\n"
    "  polykemd --socket /tmp/polykem.sock                    for workers of the same user\n"
    "  polykemd --allow-gid www-data --metrics 127.0.0.1:9464\n"
    "  polykemd --check                                       what is wrong with the configuration?\n"
    "\n"
    "Worker processes name the socket in the configuration of their batcher.\n"
    "SIGTERM finishes what is in flight and ends; SIGHUP reads the configuration again and writes the figures into the "
    "log.\n"
    "docs/broker.md has the set-up. Exit codes: docs/exit_codes.md.";

}  // namespace

int run_polykemd(int argc, char** argv) {
  CLI::App app{"polykemd: computes key exchanges in batches for the processes of this machine.", "polykemd"};
  DaemonOptions options;  // of the command line alone
  app.set_version_flag("-V,--version", fmt::format("polykemd {} ({})", polykem_version(), build_commit()));
  app.formatter(help_formatter());
  add_daemon_options(app, options);
  app.footer(kDaemonFooter);
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  send_errors_to(json_path_of(arguments));
  if (asks_for_tree(arguments)) {
    write_json({"-"}, command_tree(app));
    return kExitOk;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return print_help(app, e);
    check_options(app, arguments);
    return report(kExitUsage, e.what(), "'polykemd --help' shows the options");
  }
  Configuration configuration = read_configuration(arguments);
  if (configuration.options.check) return check_configuration(configuration);
  print_findings(configuration.findings);
  return configuration.findings.empty() ? run_daemon(std::move(configuration), arguments) : kExitBadInput;
}

}  // namespace polykem::cli
