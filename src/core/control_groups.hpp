// SPDX-License-Identifier: Apache-2.0
// The control groups of this process, whose files limit what it may use.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace polykem {

/// folder: a group's; version2: its files are those of version 2.
using ControlGroupVisitor = std::function<void(const std::string& folder, bool version2)>;

/// Visits this process's groups, and those above them as far as they are mounted: of version 2, and of version 1 those
/// of the controller ("cpu", "memory"). `root` stands before every path.
void for_each_control_group(const std::string& root, std::string_view controller, const ControlGroupVisitor& visit);

}  // namespace polykem
