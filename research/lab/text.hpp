// SPDX-License-Identifier: Apache-2.0
// What tables and JSON documents are made of.
#pragma once

#include <string>
#include <vector>

#include "lab.hpp"

namespace polykem::lab {

/// As printf does it.
std::string format(const char* how, double value);
/// A JSON string.
std::string quoted(const std::string& text);

using Cells = std::vector<std::string>;
/// Columns as wide as their widest cell; the first `left` begin at the left.
std::string aligned(const std::vector<Cells>& lines, size_t left);

/// "registers / shared bytes / threads x blocks / occupancy"; empty where there are none.
std::string resources_text(const Resources& resources);
/// The same as members of a JSON object, each after a comma.
std::string resources_json(const Resources& resources);

/// The commit of the sources, or POLYKEM_COMMIT where the environment has it.
std::string commit();
std::string cpu_name();
/// The words that started this, for a JSON document; `program` for the first.
std::string command_line(const char* program, int argc, char** argv);

}  // namespace polykem::lab
