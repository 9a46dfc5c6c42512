// SPDX-License-Identifier: Apache-2.0
// Measures the cycles per item of batched primitives for each instruction set of this CPU. They are cycles of the
// core's clock, which is found from a chain of dependent subtractions, since the time stamp counter has another rate.
#include "bench.hpp"

#include <cstdio>
#include <cstring>

int main(int argc, char** argv) {
  using namespace polykem::bench;
  const char* only = argc > 1 ? argv[1] : "";
  std::printf("time stamp ticks per core cycle: %.3f\n", ticks_per_cycle());
  std::printf("%-34s %-7s %10s %10s\n", "primitive", "isa", "cycles", "floor");
  for (Isa isa : {Isa::kAvx2, Isa::kAvx512}) {
    if (!cpu_has(isa)) {
      std::printf("%-34s %-7s skipped: this CPU lacks it\n", "all", isa_name(isa));
      continue;
    }
    for (const Group& group : groups()) {
      if (std::strstr(group.name, only) != nullptr) group.run(isa);
    }
  }
  return 0;
}
