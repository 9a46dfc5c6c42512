// SPDX-License-Identifier: Apache-2.0
// Writes JSON results and errors, to standard output or to a file that appears whole or not at all.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

#include "common/streams.hpp"

namespace polykem::cli {

/// Keeps the order in which fields were set.
using Json = nlohmann::ordered_json;

/// The destination of JSON.
struct JsonFile {
  std::string path;    ///< empty: nowhere; "-": standard output
  bool force = false;  ///< an existing file may be replaced; also holds for the other outputs of a command
};

/// The help text of every command's --json option.
inline constexpr const char* kJsonHelp =
    "Write the result as JSON to FILE ('-': standard output, instead of the table)";

/// True if JSON goes to standard output, so that the table for people is left out.
inline bool json_to_stdout(const JsonFile& file) {
  return is_standard_output(file.path);
}

/// The text of `value`: indented, with a final newline.
std::string json_text(const Json& value);

/// Writes `value` to the file, or to stdout for "-"; does nothing without a path. Throws CliError: usage if the file
/// exists and must not be replaced, io if it cannot be written.
void write_json(const JsonFile& file, const Json& value);

/// The fields that every result starts with: schema, polykem version, commit, compiler, device.
Json json_header(const std::string& schema);

/// The path that --json names in a command line, which may be invalid; empty if there is none.
std::string json_path_of(const std::vector<std::string>& arguments);

/// From now on errors are also written to this path, until a result is written. They never replace a file, even with
/// --force, because the command may have been meant to read it.
void send_errors_to(const std::string& path);

/// Writes {"schema": "polykem-error-1", "error", "exit_code", "hint"} to that path. Never throws: the error is on
/// standard error in any case.
void write_json_error(int exit_code, const std::string& message, const std::string& hint) noexcept;

}  // namespace polykem::cli
