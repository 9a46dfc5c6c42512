// SPDX-License-Identifier: Apache-2.0
#include "schemes/ntru/polyinv/polyinv_lanes.hpp"

#include <string>

#include "bench.hpp"

namespace polykem::bench {

namespace {

/// Returns the cycles of the division steps alone, at four operations per cycle. A step touches the coefficients of f,
/// g, v and w that it needs, on average 1.5 n of 2 n; a register has 16 * lanes of them.
double floor_of(size_t n, double operations, double lanes) {
  const double steps = 2.0 * static_cast<double>(n) - 3;
  return steps * (1.5 * static_cast<double>(n) / 16) * operations / 4 / lanes;
}

}  // namespace

void bench_polyinv(Isa isa) {
  const bool wide = isa == Isa::kAvx512;
  const PolyInvFunctions& lanes = wide ? kPolyInvAvx512 : kPolyInvAvx2;
  const auto width = static_cast<double>(lanes.lanes);
  auto* workspace = aligned<uint8_t>(lanes.workspace_bytes);
  for (size_t n : {509, 677, 701, 821, 1229, 1373}) {
    const size_t words = n * lanes.lanes;
    auto* a = aligned<uint16_t>(words);
    auto* out = aligned<uint16_t>(words);
    fill_noise(a, words * sizeof *a);
    for (size_t i = 0; i < words; ++i)
      a[i] = i / lanes.lanes == n - 1 ? 0 : static_cast<uint16_t>(a[i] % 3);
    const std::string name = "n = " + std::to_string(n);
    report(("inverse mod 2, " + name).c_str(), isa, cycles([&] { lanes.inverse_mod2(out, a, n, workspace); }) / width,
           floor_of(n, wide ? 2 : 3, width));
    report(("inverse mod 3, " + name).c_str(), isa, cycles([&] { lanes.inverse_mod3(out, a, n, workspace); }) / width,
           floor_of(n, wide ? 7 : 10, width));
    report(("one inverse mod 2, " + name).c_str(), isa,
           cycles([&] { lanes.inverse_mod2_single(out, a, n, workspace); }), 0);
    report(("one inverse mod 3, " + name).c_str(), isa,
           cycles([&] { lanes.inverse_mod3_single(out, a, n, workspace); }), 0);
  }
}

}  // namespace polykem::bench
