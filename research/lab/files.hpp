// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace polykem::lab {

/// Creates or replaces a file in one step; however the program ends, the old or the new file exists. Devices and pipes
/// are written to. Throws std::runtime_error.
void write_file(const std::string& path, const std::string& text);

/// Returns whether write_file() would replace the file.
bool is_replaceable(const std::string& path);

}  // namespace polykem::lab
