// SPDX-License-Identifier: Apache-2.0
// Measures how many instructions of a kind this core executes in a cycle, one kind alone and two kinds in turn, which
// shows which kinds share ports.
//   polykem_bench_cpu_rates [--json FILE]
// Every result is compared with portable code. Needs AVX-512 and VAES.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "core/cpu_features.hpp"
#include "rates.hpp"

namespace polykem::bench::cpu_rates {
namespace {

constexpr int kRuns = 41;
constexpr uint64_t kRounds = 100000;

struct Rate {
  std::string name, of;
  double per_cycle;
};

double seconds(auto&& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Returns the length of a cycle of the core's clock, from a chain of multiplications of three cycles each.
double cycle_seconds() {
  constexpr uint64_t kChain = 50000;
  return seconds([] {
           uint64_t x = 3, n = kChain / 4;
           asm volatile("1: imul %0, %0\n\timul %0, %0\n\timul %0, %0\n\timul %0, %0\n\tdec %1\n\tjnz 1b"
                        : "+r"(x), "+r"(n)
                        :
                        : "cc");
         }) /
         (3 * kChain);
}

/// Cycles of `body`, the median of some runs. The clock is measured after each, for the core lowers it for some
/// instructions.
double cycles(auto&& body) {
  std::vector<double> found;
  for (int run = 0; run < kRuns; ++run) {
    const double spent = seconds(body);
    found.push_back(spent / cycle_seconds());
  }
  std::nth_element(found.begin(), found.begin() + kRuns / 2, found.end());
  return found[kRuns / 2];
}

void fill(Register& out, uint64_t state) {
  for (uint8_t& byte : out.bytes) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    byte = static_cast<uint8_t>(state >> 56);
  }
}

bool is_right(const Subject& subject) {
  constexpr uint64_t kFew = 37;
  Chains chains;
  Register operand;
  fill(operand, 99);
  for (size_t i = 0; i < kChains; ++i)
    fill(chains[i], i);
  Chains expected = chains;
  subject.kernel(chains, operand, kFew);
  for (size_t i = 0; i < kChains; ++i) {
    for (uint64_t round = 0; round < kFew; ++round)
      (i % 2 == 0 ? subject.even : subject.odd)(expected[i], operand);
  }
  return std::memcmp(&chains, &expected, sizeof chains) == 0;
}

[[noreturn]] void die(const std::string& what) {
  fmt::print(stderr, "polykem_bench_cpu_rates: {}\n", what);
  std::exit(1);
}

Rate measure(const Subject& subject) {
  if (!is_right(subject)) die(fmt::format("{}: not what portable code computes", subject.name));
  Chains chains{};
  Register operand{};
  const double spent = cycles([&] { subject.kernel(chains, operand, kRounds); });
  return {subject.name, subject.of, static_cast<double>(kRounds * kChains) / spent};
}

/// Measures tile products of bytes, alone and with AES rounds in between.
std::vector<Rate> measure_tiles() {
  constexpr uint64_t kTileRounds = 20000;
  constexpr double kMacs = 16 * 16 * 64 * kTilesOfRound;
  std::vector<Rate> rates;
  for (const bool with_aes : {false, true}) {
    Tiles tiles;
    const double spent = cycles([&] { tiles.run(kTileRounds, with_aes); });
    if (!tiles.are_right()) die("tdpbusd: not what portable code computes");
    rates.push_back({with_aes ? fmt::format("tdpbusd, {} vaesenc", kAesOfTile) : "tdpbusd",
                     "byte multiply-adds on tiles", kMacs * kTileRounds / spent});
  }
  return rates;
}

void write_json(const char* path, const std::vector<Rate>& rates) {
  std::ofstream out(path);
  out << "{\n \"unit\": \"a cycle of the core\",\n \"rates\": [\n";
  for (size_t i = 0; i < rates.size(); ++i) {
    out << fmt::format("  {{\"name\": \"{}\", \"of\": \"{}\", \"per_cycle\": {:.3f}}}{}\n", rates[i].name, rates[i].of,
                       rates[i].per_cycle, i + 1 < rates.size() ? "," : "");
  }
  out << " ]\n}\n";
  if (!out.flush()) die(fmt::format("cannot write {}", path));
}

int run(const char* json) {
  if (!cpu_features().avx512()) die("this CPU lacks what the backend avx512 needs");
  std::vector<Rate> rates;
  for (const Subject& subject : subjects())
    rates.push_back(measure(subject));
  if (allow_tiles()) {
    for (Rate& rate : measure_tiles())
      rates.push_back(std::move(rate));
  }
  fmt::print("{:<22} {:<32} {:>10}\n", "instruction", "", "a cycle");
  for (const Rate& rate : rates)
    fmt::print("{:<22} {:<32} {:>10.2f}\n", rate.name, rate.of, rate.per_cycle);
  if (json != nullptr) write_json(json, rates);
  return 0;
}

}  // namespace
}  // namespace polykem::bench::cpu_rates

int main(int argc, char** argv) {
  const bool wants_json = argc == 3 && std::strcmp(argv[1], "--json") == 0;
  if (argc != 1 && !wants_json) {
    std::fprintf(stderr, "usage: polykem_bench_cpu_rates [--json FILE]\n");
    return 2;
  }
  return polykem::bench::cpu_rates::run(wants_json ? argv[2] : nullptr);
}
