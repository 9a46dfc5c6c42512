// SPDX-License-Identifier: Apache-2.0
// How many CPUs this process may use, from which every pool takes its number of threads.
#pragma once

#include <string>

namespace polykem {

struct UsableCpus {
  unsigned count = 1;     ///< what a pool should have, at least 1
  unsigned affinity = 1;  ///< CPUs that the calling thread may run on
  double quota = 0;       ///< CPUs' worth of time that its control groups may take, the least of them; 0: any
};

/// Asks the system anew each time. `count` is `affinity`, or the quota, rounded up, where that is less.
UsableCpus usable_cpus();
/// The same of an affinity and a quota.
UsableCpus usable_cpus(unsigned affinity, double quota);

/// The quota of this process's control groups and of those above them, as far as they are mounted: version 2's cpu.max
/// and version 1's cpu.cfs_quota_us. 0 if there is none. `root` stands before every path.
double cpu_quota(const std::string& root);

}  // namespace polykem
