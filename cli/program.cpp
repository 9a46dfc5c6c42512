// SPDX-License-Identifier: Apache-2.0
// polykem on the command line: one subcommand per file, registered here.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "commands.hpp"
#include "common/build_commit.hpp"
#include "common/context.hpp"
#include "common/exit_codes.hpp"
#include "common/json_out.hpp"
#include "common/output.hpp"
#include "common/signals.hpp"
#include "help/command_tree.hpp"
#include "help/help_text.hpp"
#include "help/unknown_option.hpp"

namespace polykem::cli {
namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  polykem list                                       what this build can do\n"
    "  polykem exchange --scheme mlkem768 --clients 10000\n"
    "  polykem keygen --scheme mlkem768 --pk alice.pk --sk alice.sk\n"
    "  polykem profile --scheme mlkem768                  where the time goes\n"
    "  polykem doctor                                     is this machine in order?\n"
    "\n"
    "'polykem COMMAND --help' explains a command. Exit codes: docs/exit_codes.md.";

void register_all(CLI::App& app, int& exit_code) {
#ifdef POLYKEM_CLI_NET
  net::register_exchange(app, exit_code);
  net::register_serve(app, exit_code);
  net::register_swarm(app, exit_code);
#endif
  register_list(app, exit_code);
  register_keygen(app, exit_code);
  register_encaps(app, exit_code);
  register_decaps(app, exit_code);
  register_sign(app, exit_code);
  register_verify(app, exit_code);
  register_profile(app, exit_code);
  register_bench(app, exit_code);
  register_kat(app, exit_code);
  register_doctor(app, exit_code);
#ifdef POLYKEM_CLI_TLS
  register_tls_check(app, exit_code);
#endif
  register_top(app, exit_code);
  register_report(app, exit_code);
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

/// Throws CliError, with the nearest command as a hint, if there is no such command. The parser's message is less
/// clear.
void check_command(const CLI::App& app, const std::string& word) {
  const std::vector<std::string> names = command_names(app);
  for (const std::string& name : names) {
    if (name == word) return;
  }
  const std::string close = nearest(word, names);
  throw CliError(kExitUsage, fmt::format("no command '{}'", word),
                 close.empty() ? "'polykem --help' shows all commands"
                               : fmt::format("did you mean '{}'? 'polykem --help' shows all", close));
}

/// Checks the path of --json before the work begins, because a result that cannot be written would be lost.
void check_json_path(const CLI::App& app) {
  for (const CLI::App* command : app.get_subcommands()) {
    const CLI::Option* json = command->get_option_no_throw("--json");
    const CLI::Option* force = command->get_option_no_throw("--force");
    if (json != nullptr && json->count() > 0)
      check_output_path(json->as<std::string>(), force != nullptr && force->count() > 0);
    check_json_path(*command);
  }
}

/// "polykem help COMMAND" is "polykem COMMAND --help".
void rewrite_help(std::vector<std::string>& arguments) {
  if (arguments.empty()) arguments.emplace_back("--help");
  if (arguments[0] != "help") return;
  arguments.erase(arguments.begin());
  arguments.emplace_back("--help");
}

int parse_error(const CLI::App& app, const CLI::ParseError& e) {
  if (e.get_exit_code() == 0) return print_help(app, e);
  std::string where = "polykem";
  for (const CLI::App* command : app.get_subcommands())
    where += " " + command->get_name();
  return report(kExitUsage, e.what(), fmt::format("'{} --help' shows the options", where));
}

}  // namespace

int run_polykem(int argc, char** argv) {
  CLI::App app{"polykem: batched post-quantum key exchange and signatures.", "polykem"};
  int exit_code = kExitOk;
  app.set_version_flag("-V,--version", fmt::format("polykem {} ({})", polykem_version(), build_commit()));
  app.require_subcommand(1);
  app.formatter(help_formatter());
  register_all(app, exit_code);
  app.footer(kFooter);  // last, since commands inherit what is set before them

  app.parse_complete_callback([&app] { check_json_path(app); });

  std::vector<std::string> arguments(argv + 1, argv + argc);
  send_errors_to(json_path_of(arguments));
  // With --pipe, the parent process stops this one and reports for it.
  if (std::find(arguments.begin(), arguments.end(), "--pipe") == arguments.end()) handle_signals();
  if (asks_for_tree(arguments)) {
    write_json({"-"}, command_tree(app));
    return kExitOk;
  }
  rewrite_help(arguments);
  if (arguments[0].rfind('-', 0) != 0) check_command(app, arguments[0]);
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    app.parse(reversed);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() != 0) check_options(app, arguments);
    return parse_error(app, e);
  }
  return exit_code;
}

}  // namespace polykem::cli
