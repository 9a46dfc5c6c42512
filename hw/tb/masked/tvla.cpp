// SPDX-License-Identifier: Apache-2.0
// Tests keccak_masked: its results against Keccak-f[1600], and by Welch's t-test whether the number of its registers
// that toggle in a cycle tells a fixed state from random ones (test vector leakage assessment, first order).
//
//   tvla TRACES      prints one line of JSON: {"traces", "points", "largest_t", "at", "cycles"}
//
// Ends with 1 if a result is wrong. A point is a cycle, and one of the registers of each share or all of them.
#include <verilated.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "Vkeccak_masked.h"
#include "Vkeccak_masked___024root.h"
#include "support/welch.hpp"

namespace {

using State = std::array<uint64_t, 25>;

constexpr unsigned kCycles = 48, kGroups = 5;
constexpr const char* kGroupNames[kGroups] = {"state of share 0", "state of share 1", "products of share 0",
                                              "products of share 1", "all"};

/// Keccak-f[1600]. [FIPS202, section 3.3]
State permuted(State a) {
  unsigned lfsr = 1;
  for (unsigned round = 0; round < 24; round++) {
    State b;
    uint64_t parity[5];
    for (unsigned x = 0; x < 5; x++)
      parity[x] = a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20];
    for (unsigned i = 0; i < 25; i++)
      a[i] ^= parity[(i + 4) % 5] ^ std::rotl(parity[(i + 1) % 5], 1);
    b[0] = a[0];
    for (unsigned t = 0, x = 1, y = 0; t < 24; t++) {
      const unsigned to = (2 * x + 3 * y) % 5;
      b[y + 5 * to] = std::rotl(a[x + 5 * y], static_cast<int>((t + 1) * (t + 2) / 2 % 64));
      x = y;
      y = to;
    }
    for (unsigned i = 0; i < 25; i++)
      a[i] = b[i] ^ (~b[(i + 1) % 5 + i / 5 * 5] & b[(i + 2) % 5 + i / 5 * 5]);
    for (unsigned j = 0; j < 7; j++) {
      if (lfsr & 1) a[0] ^= uint64_t{1} << ((1u << j) - 1);
      lfsr = (lfsr << 1) ^ (lfsr >> 7) * 0x171;
    }
  }
  return a;
}

class Bench {
 public:
  Bench() {
    top_.rst_ni = 0;
    tick();
    top_.rst_ni = 1;
  }
  ~Bench() { top_.final(); }

  /// Permutes a state that it masks. toggles[cycle][group]: how many registers toggle.
  State run(const State& state, std::array<std::array<unsigned, kGroups>, kCycles>& toggles) {
    top_.write_i = 1;
    for (unsigned i = 0; i < 25; i++) {
      const uint64_t mask = random_();
      top_.write_lane_i = static_cast<uint8_t>(i);
      set(0, mask);
      set(1, mask ^ state[i]);
      tick();
    }
    top_.write_i = 0;
    top_.start_i = 1;
    tick();
    top_.start_i = 0;
    for (auto& counts : toggles) {
      const auto before = registers();
      for (unsigned i = 0; i < 50; i++)
        top_.random_i[i] = static_cast<uint32_t>(random_());
      tick();
      const auto after = registers();
      counts.fill(0);
      for (unsigned i = 0; i < after.size(); i++) {
        const auto changed = static_cast<unsigned>(std::popcount(before[i] ^ after[i]));
        counts[i / 50] += changed;
        counts[kGroups - 1] += changed;
      }
    }
    State result;
    for (unsigned i = 0; i < 25; i++) {
      top_.read_lane_i = static_cast<uint8_t>(i);
      top_.eval();
      result[i] = word(0) ^ word(1);
    }
    return top_.busy_o ? State{} : result;
  }

 private:
  void tick() {
    top_.clk_i = 0;
    top_.eval();
    top_.clk_i = 1;
    top_.eval();
  }
  void set(unsigned share, uint64_t word) {
    top_.word_i[2 * share] = static_cast<uint32_t>(word);
    top_.word_i[2 * share + 1] = static_cast<uint32_t>(word >> 32);
  }
  uint64_t word(unsigned share) { return top_.word_o[2 * share] | uint64_t{top_.word_o[2 * share + 1]} << 32; }
  std::array<uint32_t, 200> registers() {
    std::array<uint32_t, 200> found;
    for (unsigned share = 0; share < 2; share++)
      for (unsigned i = 0; i < 50; i++) {
        found[50 * share + i] = top_.rootp->keccak_masked__DOT__own_q[share][i];
        found[100 + 50 * share + i] = top_.rootp->keccak_masked__DOT__cross_q[share][i];
      }
    return found;
  }

  Vkeccak_masked top_;
  std::mt19937_64 random_{203};
};

State random_state(std::mt19937_64& random) {
  State state;
  for (uint64_t& lane : state)
    lane = random();
  return state;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const unsigned traces = static_cast<unsigned>(std::stoul(argv[1]));
  Bench bench;
  std::mt19937_64 random(1);
  const State fixed = random_state(random);
  std::array<std::array<unsigned, kGroups>, kCycles> toggles;
  std::vector<polykem::test::RunningMean> means(2 * kCycles * kGroups);
  for (unsigned n = 0; n < traces; n++) {
    const unsigned is_random = random() & 1;
    const State state = is_random ? random_state(random) : fixed;
    if (bench.run(state, toggles) != permuted(state)) {
      std::fprintf(stderr, "trace %u: the result is not Keccak-f[1600]\n", n);
      return 1;
    }
    for (unsigned i = 0; i < kCycles * kGroups; i++)
      means[2 * i + is_random].add(toggles[i / kGroups][i % kGroups]);
  }
  double largest = 0;
  unsigned at = 0;
  for (unsigned i = 0; i < kCycles * kGroups; i++) {
    const double t = polykem::test::welch_t(means[2 * i], means[2 * i + 1]);
    if (t > largest) {
      largest = t;
      at = i;
    }
  }
  std::printf("{\"traces\": %u, \"points\": %u, \"largest_t\": %.2f, \"at\": \"cycle %u, %s\", \"cycles\": %u}\n",
              traces, kCycles * kGroups, largest, at / kGroups, kGroupNames[at % kGroups], kCycles);
}
