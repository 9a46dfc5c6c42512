// SPDX-License-Identifier: Apache-2.0
// Finds the option that does not exist, which the parser may not tell: it complains of another that is missing first.
#pragma once

#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): another library's name
class App;
}

namespace polykem::cli {

/// Throws CliError (usage) that names the first option in `words` that the command there has not, and the one it
/// resembles. words: the command line after the program's name, which could not be parsed.
void check_options(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace polykem::cli
