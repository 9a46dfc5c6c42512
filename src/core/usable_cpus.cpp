// SPDX-License-Identifier: Apache-2.0
#include "core/usable_cpus.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <thread>

#include "core/control_groups.hpp"

namespace polykem {

namespace {

/// The most CPUs that Linux supports.
constexpr size_t kMaxCpus = 8192;

unsigned cpus_of_affinity() {
  std::array<cpu_set_t, kMaxCpus / CPU_SETSIZE> sets{};
  if (sched_getaffinity(0, sizeof sets, sets.data()) != 0) return std::max(1U, std::thread::hardware_concurrency());
  return static_cast<unsigned>(std::max(1, CPU_COUNT_S(sizeof sets, sets.data())));
}

/// The quotient of two numbers; 0 unless both are positive numbers ("max", for example, is not).
double quotient(std::istream& quota, std::istream& period) {
  double a = 0, b = 0;
  return quota >> a && period >> b && a > 0 && b > 0 ? a / b : 0;
}

/// Returns the number of CPUs whose time the control group in this folder may use; 0 if it sets no limit.
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

}  // namespace

double cpu_quota(const std::string& root) {
  double least = 0;
  for_each_control_group(root, "cpu", [&least](const std::string& folder, bool version2) {
    least = least_quota(least, quota_of_group(folder, version2));
  });
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
