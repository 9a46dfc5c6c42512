// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

namespace polykem {

inline constexpr int kKeccakRounds = 24;

/// Round constants from the degree-8 LFSR. [FIPS202, Alg. 5 and 6]
consteval std::array<uint64_t, kKeccakRounds> keccak_round_constants() {
  std::array<uint64_t, kKeccakRounds> constants{};
  unsigned lfsr = 1;
  for (auto& constant : constants) {
    for (int j = 0; j <= 6; ++j) {
      if (lfsr & 1) constant |= uint64_t{1} << ((1 << j) - 1);
      lfsr = (lfsr << 1) ^ ((lfsr >> 7) * 0x171);
    }
  }
  return constants;
}

}  // namespace polykem
