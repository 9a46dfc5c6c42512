// SPDX-License-Identifier: Apache-2.0
// Finds an option that does not exist, because the parser may first complain about a missing one.
#pragma once

#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): another library's name
class App;
}

namespace polykem::cli {

/// Throws CliError (usage) for the first option in `arguments` that its command does not have, with the most similar
/// one as a hint. arguments: a command line without the program's name that could not be parsed.
void check_options(const CLI::App& app, const std::vector<std::string>& arguments);

}  // namespace polykem::cli
