// SPDX-License-Identifier: Apache-2.0
#include "core/cpus.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string_view>
#include <thread>
#include <vector>

namespace polykem {

namespace {

/// CPUs of the largest machine that Linux knows.
constexpr size_t kMaxCpus = 8192;

unsigned cpus_of_affinity() {
  std::array<cpu_set_t, kMaxCpus / CPU_SETSIZE> sets{};
  if (sched_getaffinity(0, sizeof sets, sets.data()) != 0) return std::max(1U, std::thread::hardware_concurrency());
  return static_cast<unsigned>(std::max(1, CPU_COUNT_S(sizeof sets, sets.data())));
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);)
    parts.push_back(part);
  return parts;
}

bool lists(const std::string& text, std::string_view word) {
  const std::vector<std::string> words = split(text, ',');
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Where a hierarchy of control groups is mounted: the group `root` is the folder `point`.
struct Mount {
  std::string point, root;
};

/// The hierarchy of version 2, or of version 1 the one with the controller `cpu`.
bool find_mount(const std::string& root, bool version2, Mount& out) {
  std::ifstream in(root + "/proc/self/mountinfo");
  for (std::string line; std::getline(in, line);) {
    const size_t dash = line.find(" - ");
    if (dash == line.npos) continue;
    const std::vector<std::string> mount = split(line.substr(0, dash), ' '), type = split(line.substr(dash + 3), ' ');
    if (mount.size() < 5 || type.size() < 3) continue;
    if (version2 ? type[0] != "cgroup2" : type[0] != "cgroup" || !lists(type[2], "cpu")) continue;
    out = {mount[4], mount[3]};
    return true;
  }
  return false;
}

/// The quotient of two numbers; 0 if they are none, "max" say, or one is not above 0.
double quotient(std::istream& quota, std::istream& period) {
  double a = 0, b = 0;
  return quota >> a && period >> b && a > 0 && b > 0 ? a / b : 0;
}

/// The CPUs that the group in this folder may use; 0 if it sets no limit.
double quota_of_group(const std::string& folder, bool version2) {
  if (version2) {
    std::ifstream both(folder + "/cpu.max");
    return quotient(both, both);
  }
  std::ifstream quota(folder + "/cpu.cfs_quota_us"), period(folder + "/cpu.cfs_period_us");
  return quotient(quota, period);
}

double least_quota(double a, double b) {
  return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b);
}

/// The least quota of a group and of those above it. `group` is its name as /proc/self/cgroup has it.
double quota_from(const std::string& root, std::string group, bool version2) {
  Mount mount;
  if (!find_mount(root, version2, mount)) return 0;
  if (mount.root == "/") mount.root.clear();
  const bool below = group.compare(0, mount.root.size(), mount.root) == 0 && group.find("/..") == group.npos;
  group = below ? group.substr(mount.root.size()) : "";  // other groups are not mounted: the topmost holds them all
  double least = 0;
  for (;;) {
    least = least_quota(least, quota_of_group(root + mount.point + group, version2));
    if (group.empty()) return least;
    group.resize(std::min(group.rfind('/'), group.size() - 1));
  }
}

}  // namespace

double cpu_quota(const std::string& root) {
  double least = 0;
  std::ifstream in(root + "/proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool version2 = controllers.empty();
    if (version2 || lists(controllers, "cpu"))
      least = least_quota(least, quota_from(root, line.substr(second + 1), version2));
  }
  return least;
}

UsableCpus usable_cpus(unsigned affinity, double quota) {
  const bool less = quota > 0 && quota < affinity;
  return {less ? static_cast<unsigned>(std::max(1.0, std::ceil(quota))) : affinity, affinity, quota};
}

UsableCpus usable_cpus() {
  return usable_cpus(cpus_of_affinity(), cpu_quota(""));
}

}  // namespace polykem
