// SPDX-License-Identifier: Apache-2.0
// Functions for tables and JSON documents.
#pragma once

#include <string>
#include <vector>

#include "lab.hpp"

namespace polykem::lab {

/// Formats like printf.
std::string format(const char* how, double value);
/// Returns text as a JSON string.
std::string quoted(const std::string& text);

using Cells = std::vector<std::string>;
/// Returns a table whose columns are as wide as their widest cell. The first `left` columns are left-aligned.
std::string aligned(const std::vector<Cells>& lines, size_t left);

/// Returns "registers / shared bytes / threads x blocks / occupancy", or "" without resources.
std::string resources_text(const Resources& resources);
/// Returns the same as members of a JSON object, each after a comma.
std::string resources_json(const Resources& resources);

/// Returns what this program was built from, as members of a JSON object.
std::string build_json();
std::string cpu_name();
/// Returns the command line for a JSON document, with `program` as its first word.
std::string command_line(const char* program, int argc, char** argv);

}  // namespace polykem::lab
