// SPDX-License-Identifier: Apache-2.0
// What --help and --version print.
#pragma once

#include <memory>

namespace CLI {  // NOLINT(readability-identifier-naming): another library's name
class App;
class FormatterBase;
class ParseError;
}  // namespace CLI

namespace polykem::cli {

/// Lays out the help so that it fits the terminal. For the whole program, before commands are added.
std::shared_ptr<CLI::FormatterBase> help_layout();

/// Prints the help or the version that the command line asked for: `e` is what parsing it threw. Returns the exit code;
/// throws CliError (io).
int print_help(const CLI::App& app, const CLI::ParseError& e);

}  // namespace polykem::cli
