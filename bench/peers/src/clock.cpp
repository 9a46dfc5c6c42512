// SPDX-License-Identifier: Apache-2.0
// The core's clock, and whether the core's other hardware thread is busy. A tile product with loads of its operands
// takes 16 cycles on a core with one busy thread, and about 50 or more with two.
#include <algorithm>
#include <chrono>
#include <cstdint>

#include "core/cpu_features.hpp"

namespace {

constexpr int kWarmUp = 25, kRounds = 50, kProductsOfRound = 4;
constexpr double kQuietCycles = 20;
/// A timer's interrupt must not count as a busy hardware thread.
constexpr int kTries = 3;

/// The operand of LDTILECFG with palette 1: eight tiles of 16 rows of 64 bytes.
struct alignas(64) TileConfig {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

alignas(64) constexpr uint8_t kOperands[4][1024] = {};

double seconds(auto&& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Returns the time of a chain of multiplications of three cycles each.
double chain_seconds(uint64_t length) {
  return seconds([length] {
    uint64_t x = 3, n = length / 4;
    asm volatile("1: imul %0, %0\n\timul %0, %0\n\timul %0, %0\n\timul %0, %0\n\tdec %1\n\tjnz 1b"
                 : "+r"(x), "+r"(n)
                 :
                 : "cc");
  });
}

/// Returns the length of a cycle, from the difference of two chains, which cancels the time of reading the clock.
double cycle_seconds() {
  constexpr uint64_t kShort = 200, kLong = 1200;
  const double shorter = chain_seconds(kShort);
  const double longer = std::min(chain_seconds(kLong), chain_seconds(kLong));  // one may have been interrupted
  return (longer - shorter) / (3 * (kLong - kShort));
}

void multiply(int rounds) {
  for (int i = 0; i < rounds; ++i) {
    asm volatile(
        "tileloadd (%0,%4), %%tmm4\n\ttileloadd (%1,%4), %%tmm6\n\ttdpbusd %%tmm6, %%tmm4, %%tmm0\n\t"
        "tileloadd (%2,%4), %%tmm7\n\ttdpbusd %%tmm7, %%tmm4, %%tmm1\n\t"
        "tileloadd (%3,%4), %%tmm5\n\ttdpbusd %%tmm6, %%tmm5, %%tmm2\n\ttdpbusd %%tmm7, %%tmm5, %%tmm3"
        :
        : "r"(kOperands[0]), "r"(kOperands[1]), "r"(kOperands[2]), "r"(kOperands[3]), "r"(uint64_t{64})
        : "memory");
  }
}

double product_seconds() {
  const TileConfig config;
  asm volatile("ldtilecfg %0\n\ttilezero %%tmm0\n\ttilezero %%tmm1\n\ttilezero %%tmm2\n\ttilezero %%tmm3"
               :
               : "m"(config));
  multiply(kWarmUp);
  const double spent = seconds([] { multiply(kRounds); });
  asm volatile("tilerelease");
  return spent / (kRounds * kProductsOfRound);
}

}  // namespace

/// Returns the core's clock in GHz, whether or not the core is shared, from the fastest of several long chains.
extern "C" double polykem_fastest_clock() {
  constexpr uint64_t kChain = 1000000;
  double fastest = chain_seconds(kChain);
  for (int run = 1; run < 20; ++run)
    fastest = std::min(fastest, chain_seconds(kChain));
  return 3e-9 * kChain / fastest;
}

/// Must be called before polykem_quiet_clock(). Returns false if this CPU or kernel has no tiles.
extern "C" bool polykem_quiet_prepare() {
  return polykem::cpu_features().amx() && polykem::may_use_tiles();
}

/// Returns the core's clock in GHz, or 0 if its other hardware thread is busy.
extern "C" double polykem_quiet_clock() {
  for (int i = 0; i < kTries; ++i) {
    const double cycle = cycle_seconds(), product = product_seconds();  // in this order, since tiles lower the clock
    if (product < kQuietCycles * cycle) return 1e-9 / cycle;
  }
  return 0;
}
