// SPDX-License-Identifier: Apache-2.0
// The control groups of this process, whose files limit what it may use.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace polykem {

/// Called with a control group's folder. version2: its files are those of version 2.
using ControlGroupVisitor = std::function<void(const std::string& folder, bool version2)>;

/// Visits this process's control groups and, as far as they are mounted, their ancestors: those of version 2, and those
/// of version 1 with the controller ("cpu", "memory"). root: a prefix of every path, for tests.
void for_each_control_group(const std::string& root, std::string_view controller, const ControlGroupVisitor& visit);

}  // namespace polykem
