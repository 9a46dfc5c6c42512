// SPDX-License-Identifier: Apache-2.0
// The number of CPUs that this process may use, which determines the number of threads of every pool.
#pragma once

#include <string>

namespace polykem {

struct UsableCpus {
  unsigned count = 1;     ///< threads for a pool, at least 1
  unsigned affinity = 1;  ///< CPUs that the calling thread may run on
  double quota = 0;       ///< the lowest quota of its control groups, in CPUs; 0: none
};

/// Queries the system at each call. `count` is the lower of `affinity` and the quota rounded up.
UsableCpus usable_cpus();
/// The same for a given affinity and quota.
UsableCpus usable_cpus(unsigned affinity, double quota);

/// The lowest quota of this process's control groups and, as far as they are mounted, their ancestors: cpu.max in
/// version 2, cpu.cfs_quota_us in version 1; 0 if there is none. root: a prefix of every path, for tests.
double cpu_quota(const std::string& root);

}  // namespace polykem
