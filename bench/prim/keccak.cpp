// SPDX-License-Identifier: Apache-2.0
#include "prim/keccak/keccak_lanes.hpp"

#include "bench.hpp"
#include "prim/keccak/keccak.hpp"

namespace polykem::bench {

void bench_keccak(Isa isa) {
  const KeccakFunctions& keccak = isa == Isa::kAvx2 ? kKeccakAvx2 : kKeccakAvx512;
  constexpr size_t kCount = 32, kLength = 328;
  auto* states = aligned<uint64_t>(25 * 8);
  auto* in = aligned<uint8_t>(kCount * kLength);
  auto* out = aligned<uint8_t>(kCount * 32);
  fill_noise(in, kCount * kLength);
  // A round has 90 operations with AVX-512, 61 of three inputs and 29 rotations at half the rate. With AVX2 it has 101
  // operations of two inputs, of which the CPU starts four in a cycle, and 29 rotations of three operations each.
  const double floor = isa == Isa::kAvx512 ? 24 * 22.5 / 8 : 24 * (25 + 20 + 5 + 50 + 3 * 29 + 1) / 4.0 / 4;
  const auto report_permutation = [&](const char* name, void (*permute)(uint64_t*), size_t lanes) {
    const double spent = cycles([&] {
      for (int i = 0; i < 16; ++i)
        permute(states);
    });
    report(name, isa, spent / 16 / static_cast<double>(lanes), lanes > 1 ? floor : 0);
  };
  report_permutation("keccak-f1600", keccak.permute, keccak.lanes);
  if (isa == Isa::kAvx512) {
    report_permutation("keccak-f1600, compiled", kKeccakFormsAvx512.compiled.permute, keccak.lanes);
    report_permutation("keccak-f1600, for Intel's CPUs", kKeccakFormsAvx512.intel.permute, keccak.lanes);
    report_permutation("keccak-f1600, for a Zen 5", kKeccakFormsAvx512.zen5.permute, keccak.lanes);
    report_permutation("keccak-f1600, one state, planes", kKeccakFormsAvx512.planes, 1);
    report_permutation("keccak-f1600, one state, words", kKeccakFormsAvx512.words, 1);
    bench_keccak_overlapped(floor);
  }
  report("sha3-256 of 328 bytes", isa, cycles([&] {
                                         keccak.sha3_256({out, 32}, {in, kLength}, kLength, kCount);
                                       }) / kCount,
         3 * floor);
  report("sha3-256 of 328 bytes, one alone", isa, cycles([&] { sha3_256(out, {in, kLength}); }), 0);
}

}  // namespace polykem::bench
