// SPDX-License-Identifier: Apache-2.0
// Compares the whole core, through its buses, with known answers. The program reads the lines of vectors.py and runs
// each without pauses and with random pauses on both streams, and each decapsulation also with a key whose end comes
// long after the rest. After a command that the core refused or did not take, the next one follows without a reset. Now
// and then a new core takes over, with another random state before its reset. Decapsulations with one key must all take
// the same time.
//
//   core_test [--cycles | --trace FILE] < lines
//
// --cycles prints the cycles of each command without pauses. --trace runs the commands without pauses only and writes
// to FILE what every signal did; it is an option of the program `trace`, which is built from this file too.
#include <cstdio>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "simulation.hpp"

namespace {

using polykem_hw::Simulation;
using Bytes = std::vector<uint8_t>;

constexpr unsigned kLimit = 20000;  // a command that takes more cycles hangs
constexpr unsigned kLate = 4000;    // cycles; no command takes as many
constexpr unsigned kDecaps = 3;
constexpr unsigned kLinesOfCore = 10;  // that a core runs

struct Vector {
  std::string name, in, out;
  unsigned command, kyber, k, rate, xof;
};

/// When words move on the two streams.
struct StreamTiming {
  unsigned pause;  // in how many of 256 cycles each stream stands still
  size_t late;     // bytes at the end of the input that come kLate cycles after the others
};

struct Result {
  Bytes bytes;
  std::string error;                  // "", "size", "modulus", "key", or what else went wrong
  unsigned cycles = 0, occupied = 0;  // the registers CYCLES and OCCUPIED
};

Bytes bytes_of(const std::string& hex) {
  Bytes bytes(hex.size() / 2);
  for (size_t i = 0; i < bytes.size(); i++)
    bytes[i] = static_cast<uint8_t>(std::stoul(hex.substr(2 * i, 2), nullptr, 16));
  return bytes;
}

bool is_refusal(const Vector& vector) {
  return vector.out.size() < 16;
}

Result run(Simulation& core, const Vector& vector, const StreamTiming& timing) {
  const Bytes in = bytes_of(vector.in), wanted = is_refusal(vector) ? Bytes{} : bytes_of(vector.out);
  const size_t words_out = vector.command == 7 ? wanted.size() / 8 : 0;
  const unsigned packets = core.packets_out();
  core.pause(timing.pause);
  core.reg_write(0x08, static_cast<uint32_t>(vector.k | vector.kyber << 3 | vector.rate << 4 | vector.xof << 6 |
                                             (in.size() / 8 & 255) << 8 | words_out << 16));
  core.reg_write(0x18, 1);
  core.stream_in(in.data(), in.size() - timing.late, timing.late == 0);
  core.reg_write(0x0c, vector.command);
  for (unsigned i = 0; i < kLate && timing.late != 0; i++)
    core.step();
  core.stream_in(in.data() + in.size() - timing.late, timing.late);
  Result result;
  if (!core.wait_irq(kLimit)) {
    result.error = "hangs";
    return result;
  }
  const uint32_t errors = core.reg_read(0x14);
  for (const auto& [bit, name] : {std::pair{1u, "size"}, {2u, "modulus"}, {4u, "key"}, {8u, "command"}})
    if (errors & bit) result.error = name;
  result.cycles = core.reg_read(0x20);
  result.occupied = core.reg_read(0x24);
  core.reg_write(0x10, 2);
  result.bytes.resize(wanted.size() + 64);
  result.bytes.resize(core.stream_out(result.bytes.data(), result.bytes.size()));
  if (core.packets_out() - packets != (is_refusal(vector) ? 0u : 1u)) result.error += " packets";
  return result;
}

bool passes(const Vector& vector, const Result& result) {
  if (is_refusal(vector)) return result.error == vector.out && result.bytes.empty();
  return result.error.empty() && result.bytes == bytes_of(vector.out);
}

bool read(Vector& vector) {
  return static_cast<bool>(std::cin >> vector.name >> vector.command >> vector.kyber >> vector.k >> vector.rate >>
                           vector.xof >> vector.in >> vector.out);
}

/// Returns whether the core takes none of the commands that it must not take, and its registers say so.
bool refuses_bad_commands(Simulation& core) {
  bool good = core.reg_read(0x00) == 0x504b454d && core.reg_read(0x04) == 0x00010000;
  core.reg_write(0x10, 2);  // clears what the zeroization after the reset set
  const std::pair<uint32_t, uint32_t> bad[] = {
      // PARAMS, CMD
      {3, 0}, {3, 8}, {3, 0x101}, {1, 1}, {5, 2}, {0, 3}, {7, 3}, {1 << 16 | 3 << 4, 7}, {1 << 8, 7}};
  for (const auto& [params, command] : bad) {
    core.reg_write(0x08, params);
    core.reg_write(0x0c, command);
    good = good && core.reg_read(0x14) == 8 && core.reg_read(0x10) == 0;
    core.reg_write(0x10, 2);
    good = good && core.reg_read(0x14) == 0;
  }
  core.reg_write(0x08, 3);
  core.reg_write(0x18, 0);
  core.reg_write(0x0c, 1);
  core.reg_write(0x0c, 1);  // the core is busy with the first command
  good = good && core.reg_read(0x14) == 8 && core.reg_read(0x10) == 1;
  core.reg_write(0x1c, 1);
  good = good && !core.wait_irq(1000) && core.reg_read(0x10) == 2 && core.reg_read(0x14) == (8 | 16);
  core.reg_write(0x18, 1);
  good = good && core.wait_irq(2);
  core.reg_write(0x10, 2);
  good = good && core.reg_read(0x10) == 0 && core.reg_read(0x14) == 0 && !core.wait_irq(10);
  if (!good) std::printf("FAILED bad commands\n");
  return good;
}

/// Returns whether ZEROIZE, written in any cycle of a short command or after it, leaves the core busy and without an
/// interrupt until all memories are overwritten.
bool zeroizes_at_any_time(Simulation& core) {
  const uint8_t word[8] = {};
  const auto begin = [&] {
    core.reg_write(0x08, 1 << 16 | 1 << 8 | 1 << 4);
    core.reg_write(0x18, 1);
    core.stream_in(word, sizeof(word));
    core.reg_write(0x0c, 7);
  };
  begin();
  bool good = core.wait_irq(1000);
  const unsigned whole = core.reg_read(0x24);
  for (unsigned after = 0; good && after < whole + 8; after += after + 16 < whole ? 7 : 1) {
    core.reg_write(0x10, 2);
    begin();
    for (unsigned i = 0; i < after; i++)
      core.step();
    core.reg_write(0x1c, 1);
    good = !core.wait_irq(0) && core.reg_read(0x10) == 1;
    good = good && core.wait_irq(1000) && core.reg_read(0x10) == 2 && core.reg_read(0x14) == 16;
    core.drop_streams();
    if (!good) std::printf("FAILED zeroize after %u cycles\n", after);
  }
  core.reg_write(0x10, 2);
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string option = argc > 1 ? argv[1] : "";
  const bool print_cycles = option == "--cycles", traces = option == "--trace" && argc > 2;
  int seed = 1;
  auto core = std::make_unique<Simulation>(seed);
  Vector vector;
  unsigned count = 2, failed = (refuses_bad_commands(*core) ? 0 : 1) + (zeroizes_at_any_time(*core) ? 0 : 1);
  if (traces) core->trace(argv[2]);
  // The time of a decapsulation may depend on rho alone: A, which is sampled from rho by rejection, is public.
  std::map<std::string, unsigned> decaps_cycles;
  for (unsigned lines = 1; read(vector); lines++) {
    if (lines % kLinesOfCore == 0 && !traces) core = std::make_unique<Simulation>(++seed);
    for (const StreamTiming& timing :
         {StreamTiming{0, 0}, StreamTiming{100, 0}, StreamTiming{0, 32}, StreamTiming{0, 64}}) {
      const bool prompt = timing.pause == 0 && timing.late == 0;
      if ((traces && !prompt) || (timing.late != 0 && vector.command != kDecaps)) continue;
      const Result result = run(*core, vector, timing);
      if (print_cycles && prompt) std::printf("%-28s %6u %6u\n", vector.name.c_str(), result.cycles, result.occupied);
      bool good = passes(vector, result);
      if (good && vector.command == kDecaps && prompt && !is_refusal(vector)) {
        const size_t rho = vector.in.size() - 2 * 96, set = 8 * vector.kyber + vector.k;
        const auto key = std::to_string(set) + vector.in.substr(rho, 64);
        good = decaps_cycles.emplace(key, result.cycles).first->second == result.cycles;
      }
      count++;
      if (good) continue;
      failed++;
      std::printf("FAILED %s pause %u late %zu: %zu bytes, error '%s', %u cycles\n", vector.name.c_str(), timing.pause,
                  timing.late, result.bytes.size(), result.error.c_str(), result.occupied);
      if (failed == 20) return 1;
    }
  }
  std::printf("%u runs, %u failed\n", count, failed);
  return failed == 0 && count != 0 ? 0 : 1;
}
