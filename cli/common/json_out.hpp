// SPDX-License-Identifier: Apache-2.0
// JSON results: to a file that appears whole or not at all, or to standard output.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace polykem::cli {

/** Keeps the order in which fields were set. */
using Json = nlohmann::ordered_json;

/** Help text of the --json option of every command. */
inline constexpr const char* kJsonHelp =
    "Write the result as JSON to FILE ('-': standard output, instead of the table)";

/** True if the table for people should be left out, because JSON goes to standard output. */
inline bool json_to_stdout(const std::string& path) {
  return path == "-";
}

/** Writes `value`, indented, to `path` (temporary file, then rename; replaces an older file) or to stdout for "-".
 * An empty path does nothing. Throws CliError (io). */
void write_json(const std::string& path, const Json& value);

/** Fields that every result starts with: schema, polykem version, commit, compiler, device. */
Json json_header(const std::string& schema);

}  // namespace polykem::cli
