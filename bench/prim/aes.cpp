// SPDX-License-Identifier: Apache-2.0
#include "bench.hpp"
#include "prim/aes/aes256_ctr.hpp"

namespace polykem::bench {

void bench_aes(Isa isa) {
  const Aes256Ctr keystream = isa == Isa::avx2 ? aes256_ctr_avx2 : aes256_ctr_avx512;
  constexpr size_t kBytes = 1 << 16;
  auto* out = aligned<uint8_t>(kBytes);
  uint8_t key[kAes256KeyBytes] = {1};
  // Fourteen rounds a block, two AES operations of a register a cycle.
  const double floor = 14.0 / 2 / (isa == Isa::avx512 ? 4 : 1);
  report("aes-256-ctr, a block of 4096", isa,
         cycles([&] { keystream(out, kBytes, key, 0, 0); }) / (kBytes / kAesBlockBytes), floor);
  report("aes-256-ctr, 32 bytes", isa, cycles([&] { keystream(out, 32, key, 0, 0); }), 0);
}

}  // namespace polykem::bench
