// SPDX-License-Identifier: Apache-2.0
#include "core/control_groups.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <vector>

namespace polykem {

namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);)
    parts.push_back(part);
  return parts;
}

bool has_word(const std::string& text, std::string_view word) {
  const std::vector<std::string> words = split(text, ',');
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Where a hierarchy of control groups is mounted: the group `root` is the folder `point`.
struct Mount {
  std::string point, root;
};

/// The hierarchy of version 2, or of version 1 the one with the controller.
bool find_mount(const std::string& root, std::string_view controller, bool version2, Mount& out) {
  std::ifstream in(root + "/proc/self/mountinfo");
  for (std::string line; std::getline(in, line);) {
    const size_t dash = line.find(" - ");
    if (dash == line.npos) continue;
    const std::vector<std::string> mount = split(line.substr(0, dash), ' '), type = split(line.substr(dash + 3), ' ');
    if (mount.size() < 5 || type.size() < 3) continue;
    if (version2 ? type[0] != "cgroup2" : type[0] != "cgroup" || !has_word(type[2], controller)) continue;
    out = {mount[4], mount[3]};
    return true;
  }
  return false;
}

/// `group` is its name as /proc/self/cgroup has it.
void look_upwards(const std::string& root, std::string group, std::string_view controller, bool version2,
                  const ControlGroupVisitor& visit) {
  Mount mount;
  if (!find_mount(root, controller, version2, mount)) return;
  if (mount.root == "/") mount.root.clear();
  const bool below = group.compare(0, mount.root.size(), mount.root) == 0 && group.find("/..") == group.npos;
  group = below ? group.substr(mount.root.size()) : "";  // other groups are not mounted: the topmost holds them all
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
    if (version2 || has_word(controllers, controller))
      look_upwards(root, line.substr(second + 1), controller, version2, visit);
  }
}

}  // namespace polykem
