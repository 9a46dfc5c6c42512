// SPDX-License-Identifier: Apache-2.0
#include "schemes/ntru/sort/sort_lanes.hpp"

#include "bench.hpp"

namespace polykem::bench {

namespace {

/// Returns the number of comparators of the merge exchange on `count` values.
size_t comparators(size_t count) {
  size_t top = 1, total = 0;
  while (2 * top < count)
    top *= 2;
  for (size_t p = top; p > 0; p /= 2) {
    size_t q = top, r = 0, distance = p;
    while (true) {
      for (size_t i = 0; i + distance < count; ++i)
        total += (i & p) == r;
      if (q == p) break;
      distance = q - p;
      q /= 2;
      r = p;
    }
  }
  return total;
}

}  // namespace

void bench_sort(Isa isa) {
  const SortFunctions& sort = isa == Isa::kAvx2 ? kSortAvx2 : kSortAvx512;
  for (const size_t n : {509, 677, 821}) {
    const size_t bytes = (30 * (n - 1) + 7) / 8;
    auto* in = aligned<uint8_t>(bytes * sort.lanes);
    auto* out = aligned<uint16_t>(n * sort.lanes);
    auto* workspace = aligned<uint8_t>(sort_workspace_bytes(n, sort.lanes));
    fill_noise(in, bytes * sort.lanes);
    const double floor = 2.0 * static_cast<double>(comparators(n - 1)) / 4 / static_cast<double>(sort.lanes / 2);
    char name[64];
    std::snprintf(name, sizeof name, "sample_fixed_type %zu", n);
    report(name, isa, cycles([&] {
                        sort.sample_fixed_type(out, {in, bytes}, sort.lanes, n, 254, workspace);
                      }) / static_cast<double>(sort.lanes),
           floor);
  }
}

}  // namespace polykem::bench
