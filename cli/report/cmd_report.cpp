// SPDX-License-Identifier: Apache-2.0
// polykem report: runs polykem-report of the Python package, which measures with this program.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "common/exit_codes.hpp"
#include "common/options.hpp"

namespace polykem::cli {
namespace {

constexpr const char* kReporter = "polykem-report";

/// The options of polykem-report; tests/report compares them with its --help.
struct ReportOptions {
  CommonOptions common;
  std::string scheme;
  std::string seconds;
  std::string output;
  std::string from;
  std::vector<std::string> add;
  bool no_published = false;
  std::string program;
};

std::string this_program() {
  std::error_code failed;
  return std::filesystem::read_symlink("/proc/self/exe", failed).string();
}

/// The command line for polykem-report. Each option is one argument, so that a value that begins with '-' stays a
/// value.
std::vector<std::string> reporter_command(const CLI::App& command) {
  std::vector<std::string> arguments = {kReporter};
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = "--" + option->get_lnames().front();
    if (option->count() == 0) continue;
    if (option->get_expected_max() == 0) {
      arguments.push_back(name);
      continue;
    }
    for (const std::string& value : option->results())
      arguments.push_back(name + "=" + value);
  }
  return arguments;
}

int run_report(const CLI::App& command) {
  std::vector<std::string> arguments = reporter_command(command);
  std::vector<char*> argv;
  for (std::string& argument : arguments)
    argv.push_back(argument.data());
  argv.push_back(nullptr);
  const std::string self = this_program();
  if (!self.empty()) {
    setenv("POLYKEM_PROGRAM", self.c_str(), 1);
    execv((std::filesystem::path(self).parent_path() / kReporter).c_str(), argv.data());
  }
  execvp(kReporter, argv.data());
  const int reason = errno;
  if (reason != ENOENT) throw CliError(kExitIo, fmt::format("cannot run {}: {}", kReporter, std::strerror(reason)));
  throw CliError(kExitIo, fmt::format("{} is not installed", kReporter),
                 "it comes with the Python package: pip install polykem, or pip install . in the source tree");
}

}  // namespace

void register_report(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* command = app.add_subcommand("report", "Write a page of charts about this machine and polykem");
  command->footer(
      "Examples:\n"
      "  polykem report\n"
      "  polykem report --scheme mlkem,frodokem976shake --output here.html --json here.json\n"
      "  polykem report --from here.json --add other_machine.json --output both.html\n"
      "\n"
      "One HTML file that loads nothing and runs no script; it takes less than a minute.\n"
      "The Python package draws it, see docs/report.md. Exit code 1 if a self-test fails.");
  command
      ->add_option("-s,--scheme", options->scheme,
                   "Parameter sets or families (default: mlkem768, ntruhps4096821, frodokem640aes)")
      ->type_name("NAMES");
  command->add_option("--seconds", options->seconds, "Minimum time for each figure (default 0.03)")->type_name("S");
  command->add_option("-o,--output", options->output, "The page ('-': standard output; default polykem-report.html)")
      ->type_name("FILE");
  command->add_option("--from", options->from, "Measure nothing; draw the data that --json wrote")->type_name("FILE");
  command->add_option("--add", options->add, "Also show results of another machine or run; may be repeated")
      ->type_name("FILE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_flag("--no-published", options->no_published, "Leave out the results that come with polykem");
  command->add_option("--program", options->program, "The program polykem to measure with (default: this one)")
      ->type_name("FILE");
  add_json(*command, options->common);
  add_quiet(*command, options->common);
  command->callback([command, options, &exit_code] { exit_code = run_guarded([&] { return run_report(*command); }); });
}

}  // namespace polykem::cli
