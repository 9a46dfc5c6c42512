// SPDX-License-Identifier: Apache-2.0
// The commands, their options and examples as JSON: `polykem help --json` prints it, and man pages and shell completion
// are made from it. "polykem-help-1" is
//
//   {"schema": "polykem-help-1", "version": "0.2.0", "program": COMMAND}
//
// with, for the program itself and for every command under it,
//
//   COMMAND: {"name": "keygen", "usage": "polykem keygen", "description": "one line",
//             "options": [OPTION...], "positionals": [OPTION...], "examples": [EXAMPLE...],
//             "notes": "paragraphs that follow the examples in --help, lines ended by \n; may be empty",
//             "commands": [COMMAND...]}
//   OPTION:  {"names": ["-s", "--scheme"],   of a positional: its one name, without dashes
//             "argument": "NAME",            as --help shows it; null for a flag
//             "values": ["ref", "avx2"],     words that the argument may be, or parts of a list of them; empty: any
//             "file": false,                 true if the argument is the path of a file
//             "required": false, "repeats": false, "description": "one line"}
//   EXAMPLE: {"command": "polykem list", "description": "what this build can do"}   the description may be empty
//
// Everything is in the order of --help. The values of --scheme and --backend are those of this build.
#pragma once

#include <string>
#include <vector>

#include "common/json_out.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): another library's name
class App;
}

namespace polykem::cli {

/// The tree of the whole program.
Json command_tree(const CLI::App& app);

/// True if the command line, without the program's name, is "help --json".
bool asks_for_tree(const std::vector<std::string>& arguments);

}  // namespace polykem::cli
