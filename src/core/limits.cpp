// SPDX-License-Identifier: Apache-2.0
#include "core/limits.hpp"

#include <fstream>
#include <string_view>

#include "core/control_groups.hpp"

namespace polykem {

namespace {

/// The number at the beginning of a file; 0 if there is none, as with "max".
uint64_t number_in(const std::string& path) {
  std::ifstream in(path);
  uint64_t value = 0;
  return in >> value ? value : 0;
}

uint64_t machine_memory(const std::string& root) {
  std::ifstream in(root + "/proc/meminfo");
  for (std::string name, unit; in >> name;) {
    uint64_t kib = 0;
    if (name == "MemTotal:") return in >> kib ? kib * 1024 : 0;
    std::getline(in, unit);
  }
  return 0;
}

Limit least(const std::string& root, std::string_view controller, const char* version2_file, const char* version1_file,
            uint64_t of_machine) {
  Limit out{of_machine, false};
  for_each_control_group(root, controller, [&](const std::string& folder, bool version2) {
    const uint64_t limit = number_in(folder + "/" + (version2 ? version2_file : version1_file));
    if (limit != 0 && (out.value == 0 || limit < out.value)) out = {limit, true};
  });
  return out;
}

}  // namespace

Limit memory_limit(const std::string& root) {
  return least(root, "memory", "memory.max", "memory.limit_in_bytes", machine_memory(root));
}

Limit thread_limit(const std::string& root) {
  return least(root, "pids", "pids.max", "pids.max", number_in(root + "/proc/sys/kernel/threads-max"));
}

}  // namespace polykem
