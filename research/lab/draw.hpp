// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace polykem::lab {

/// Tables and plots of a JSON file, by the script of that path, which go to `folder`. Says so where the script is
/// not here; throws std::runtime_error if it fails. Without a Python that has matplotlib there are no plots.
void draw_report(const std::string& script, const std::string& json, const std::string& folder);

}  // namespace polykem::lab
