// SPDX-License-Identifier: Apache-2.0
// JSON results and errors, written to a file that appears whole or not at all, or to standard output.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

#include "common/streams.hpp"

namespace polykem::cli {

/// Keeps the order in which fields were set.
using Json = nlohmann::ordered_json;

/// Where JSON goes.
struct JsonFile {
  std::string path;    ///< empty: nowhere; "-": standard output
  bool force = false;  ///< an existing file may be replaced; also holds for the other outputs of a command
};

/// Help text of the --json option of every command.
inline constexpr const char* kJsonHelp =
    "Write the result as JSON to FILE ('-': standard output, instead of the table)";

/// True if the table for people should be left out, because JSON goes to standard output.
inline bool json_to_stdout(const JsonFile& file) {
  return is_standard_output(file.path);
}

/// `value` as it is written: indented, with a final newline.
std::string json_text(const Json& value);

/// Writes `value` to the file, or to stdout for "-"; without a path does nothing. Throws CliError: usage if the file
/// exists and may not be replaced, io if it cannot be written.
void write_json(const JsonFile& file, const Json& value);

/// Fields that every result starts with: schema, polykem version, commit, compiler, device.
Json json_header(const std::string& schema);

/// The path that --json names in a command line; empty if there is none. Also works for an invalid command line.
std::string json_path_of(const std::vector<std::string>& words);

/// From now on errors are written there too, until a result is written. They never replace a file, even with --force:
/// it could be one that the command was to read.
void send_errors_to(const std::string& path);

/// Writes {"schema": "polykem-error-1", "error", "exit_code", "hint"} to where errors go. Never throws: if that fails,
/// the error is on standard error all the same.
void write_json_error(int exit_code, const std::string& message, const std::string& hint) noexcept;

}  // namespace polykem::cli
