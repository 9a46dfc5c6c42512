// SPDX-License-Identifier: Apache-2.0
// The output of --help and --version.
#pragma once

#include <memory>

namespace CLI {  // NOLINT(readability-identifier-naming): another library's name
class App;
class FormatterBase;
class ParseError;
}  // namespace CLI

namespace polykem::cli {

/// A formatter that fits the help to the terminal. Set it on the whole program before commands are added.
std::shared_ptr<CLI::FormatterBase> help_formatter();

/// Prints the help or the version that the command line asked for. e: the exception of the parser. Returns the exit
/// code. Throws CliError (io).
int print_help(const CLI::App& app, const CLI::ParseError& e);

}  // namespace polykem::cli
