// SPDX-License-Identifier: Apache-2.0
#include "bench.hpp"
#include "prim/aes/aes128.hpp"
#include "prim/aes/aes256_ctr.hpp"

namespace polykem::bench {

namespace {

/// Returns the cycles of these blocks at two AES operations on registers per cycle.
double floor_of_rounds(Isa isa, double rounds) {
  return rounds / 2 / (isa == Isa::kAvx512 ? 4 : 1);
}

void bench_ctr(Isa isa) {
  const Aes256Ctr keystream = isa == Isa::kAvx2 ? aes256_ctr_avx2 : aes256_ctr_avx512;
  constexpr size_t kBytes = 1 << 16;
  auto* out = aligned<uint8_t>(kBytes);
  uint8_t key[kAes256KeyBytes] = {1};
  report("aes-256-ctr, a block of 4096", isa,
         cycles([&] { keystream(out, kBytes, key, 0, 0); }) / (kBytes / kAesBlockBytes), floor_of_rounds(isa, 14));
  report("aes-256-ctr, 32 bytes", isa, cycles([&] { keystream(out, 32, key, 0, 0); }), 0);
}

/// Measures rows of FrodoKEM-976's matrix, few enough for the nearest cache.
void bench_grid(Isa isa) {
  const Aes128Functions& aes = isa == Isa::kAvx2 ? kAes128Avx2 : kAes128Avx512;
  constexpr size_t kRows = 16, kColumns = 976;
  auto* out = aligned<uint16_t>(kRows * kColumns);
  uint8_t key[kAes128KeyBytes] = {1};
  report("aes-128 grid, 16 rows of 976", isa, cycles([&] { aes.grid(out, kColumns, key, 0, kRows, kColumns); }),
         floor_of_rounds(isa, 10.0 * kRows * kColumns * sizeof(uint16_t) / kAes128BlockBytes));
}

}  // namespace

void bench_aes(Isa isa) {
  bench_ctr(isa);
  bench_grid(isa);
}

}  // namespace polykem::bench
