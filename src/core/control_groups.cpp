// SPDX-License-Identifier: Apache-2.0
#include "core/control_groups.hpp"

#include <algorithm>
#include <fstream>
#include <string_view>

namespace polykem {

namespace {

/// Word n of the text, counted from 0; empty if there are fewer.
std::string_view word_of(std::string_view text, size_t n) {
  for (; n > 0; --n) {
    const size_t end = text.find(' ');
    if (end == text.npos) return {};
    text.remove_prefix(end + 1);
  }
  return text.substr(0, text.find(' '));
}

/// True if the comma-separated list has the name.
bool has_name(std::string_view list, std::string_view name) {
  for (;;) {
    const size_t end = list.find(',');
    if (list.substr(0, end) == name) return true;
    if (end == list.npos) return false;
    list.remove_prefix(end + 1);
  }
}

/// A mounted hierarchy of control groups: the group `root` is at the folder `point`.
struct Mount {
  std::string point, root;
};

/// The hierarchy of version 2, or that of version 1 with the controller.
bool find_mount(const std::string& root, std::string_view controller, bool version2, Mount& out) {
  std::ifstream in(root + "/proc/self/mountinfo");
  for (std::string line; std::getline(in, line);) {
    const size_t dash = line.find(" - ");
    if (dash == line.npos) continue;
    const std::string_view mount = std::string_view(line).substr(0, dash),
                           type = std::string_view(line).substr(dash + 3);
    const std::string_view system = word_of(type, 0), point = word_of(mount, 4);
    if (point.empty()) continue;
    if (version2 ? system != "cgroup2" : system != "cgroup" || !has_name(word_of(type, 2), controller)) continue;
    out = {std::string(point), std::string(word_of(mount, 3))};
    return true;
  }
  return false;
}

/// Visits a control group and its ancestors, as far as they are mounted. group: its name in /proc/self/cgroup.
void look_upwards(const std::string& root, std::string group, std::string_view controller, bool version2,
                  const ControlGroupVisitor& visit) {
  Mount mount;
  if (!find_mount(root, controller, version2, mount)) return;
  if (mount.root == "/") mount.root.clear();
  const bool below = group.compare(0, mount.root.size(), mount.root) == 0 && group.find("/..") == group.npos;
  group = below ? group.substr(mount.root.size()) : "";  // not mounted: begin at the topmost group
  for (;;) {
    visit(root + mount.point + group, version2);
    if (group.empty()) return;
    group.resize(std::min(group.rfind('/'), group.size() - 1));
  }
}

}  // namespace

void for_each_control_group(const std::string& root, std::string_view controller, const ControlGroupVisitor& visit) {
  std::ifstream in(root + "/proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool version2 = controllers.empty();
    if (version2 || has_name(controllers, controller))
      look_upwards(root, line.substr(second + 1), controller, version2, visit);
  }
}

}  // namespace polykem
