// SPDX-License-Identifier: Apache-2.0
// Tests that nothing of a secret stays in the core. Two cores run the same command with different secrets and the same
// public input. When the command has ended, or was aborted in a random cycle, every register and every memory word must
// be the same in both cores. The time must be the same too, and in every cycle every output but the shared secret. Both
// cores of a pair begin with the same random state, each pair with another.
//
//   residue_test FOLDER COUNT < lines of vectors.py      COUNT: how often each command is aborted, after a whole run
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "simulation.hpp"

namespace {

using polykem_hw::Simulation;
using Bytes = std::vector<uint8_t>;

constexpr unsigned kEncaps = 2, kDecaps = 3, kLimit = 20000;

Bytes bytes_of(const std::string& hex) {
  Bytes bytes(hex.size() / 2);
  for (size_t i = 0; i < bytes.size(); i++)
    bytes[i] = static_cast<uint8_t>(std::stoul(hex.substr(2 * i, 2), nullptr, 16));
  return bytes;
}

std::string contents(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct Outcome {
  std::string state;
  unsigned occupied;
  uint64_t observed;
};

Outcome run(int seed, unsigned command, unsigned params, const Bytes& in, unsigned abort_after,
            const std::string& file) {
  Simulation core(seed);
  core.reg_write(0x08, params);
  core.reg_write(0x18, 1);
  core.stream_in(in.data(), in.size());
  core.reg_write(0x0c, command);
  if (abort_after != 0) {
    for (unsigned i = 0; i < abort_after; i++)
      core.step();
    core.reg_write(0x1c, 1);
    core.drop_streams();
  }
  if (!core.wait_irq(kLimit)) return {"hangs", 0, 0};
  const unsigned occupied = core.reg_read(0x24);
  for (unsigned i = 0; i < 8; i++)  // the words on the buses leave
    core.step();
  core.save(file);
  return {contents(file), occupied, core.observed()};
}

/// Returns the input with random secrets in place of its own: m of an encapsulation, s and z of a decapsulation.
Bytes with_other_secrets(unsigned command, unsigned k, Bytes in, std::mt19937& random) {
  const size_t ciphertext = k == 2 ? 768 : k == 3 ? 1088 : 1568;
  for (size_t i = 0; i < in.size(); i++) {
    const bool secret =
        command == kEncaps ? i < 32 : (i >= ciphertext && i < ciphertext + 384 * k) || i >= in.size() - 32;
    if (secret) in[i] = static_cast<uint8_t>(random());
  }
  return in;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const unsigned abortions = static_cast<unsigned>(std::stoul(argv[2]));
  const std::string first = std::string(argv[1]) + "/first", second = std::string(argv[1]) + "/second";
  std::mt19937 random(203);
  std::string name, in_hex, out_hex;
  unsigned command, kyber, k, rate, xof, count = 0, failed = 0;
  while (std::cin >> name >> command >> kyber >> k >> rate >> xof >> in_hex >> out_hex) {
    if ((command != kEncaps && command != kDecaps) || out_hex.size() < 64) continue;
    const Bytes in = bytes_of(in_hex), other = with_other_secrets(command, k, in, random);
    unsigned whole = 0;  // cycles that the command takes when it is not aborted
    for (unsigned n = 0; n <= abortions; n++) {
      const unsigned abort_after = n == 0 ? 0 : 1 + random() % std::max(whole, 1u);
      const int seed = static_cast<int>(++count);
      const Outcome a = run(seed, command, k | kyber << 3, in, abort_after, first);
      const Outcome b = run(seed, command, k | kyber << 3, other, abort_after, second);
      if (n == 0) whole = a.occupied;
      if (a.state == b.state && a.occupied == b.occupied && a.observed == b.observed && a.state.size() > 10000)
        continue;
      failed++;
      std::printf("FAILED %s, aborted after %u: %u and %u cycles%s; state of %zu bytes differs at", name.c_str(),
                  abort_after, a.occupied, b.occupied, a.observed == b.observed ? "" : "; other outputs",
                  a.state.size());
      for (size_t i = 0, shown = 0; i < a.state.size() && i < b.state.size() && shown < 20; i++)
        if (a.state[i] != b.state[i]) shown++, std::printf(" %zu", i);
      std::printf("\n");
    }
  }
  std::printf("%u pairs, %u failed\n", count, failed);
  return failed == 0 && count != 0 ? 0 : 1;
}
