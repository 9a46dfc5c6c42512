// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace polykem::lab {

/// Writes tables and plots of a JSON file to `folder`, by the script at `script`. Prints a note if the script is
/// missing; throws std::runtime_error if it fails. Without a Python that has matplotlib there are no plots.
void draw_report(const std::string& script, const std::string& json, const std::string& folder);

}  // namespace polykem::lab
