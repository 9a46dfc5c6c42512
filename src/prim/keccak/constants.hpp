// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/isa.hpp"

namespace polykem::keccak {
inline namespace POLYKEM_ISA {

inline constexpr size_t kStateWords = 25, kKeccakRounds = 24;

/// The rotation of each word x + 5 y, by the walk of rho. The standard calls the words of the state lanes.
/// [FIPS202, 3.2.2]
struct RhoOffsets {
  int at[kStateWords] = {};
  constexpr RhoOffsets() {
    int x = 1, y = 0;
    for (int t = 0; t < 24; ++t) {
      at[x + 5 * y] = ((t + 1) * (t + 2) / 2) % 64;
      const int next_y = (2 * x + 3 * y) % 5;
      x = y;
      y = next_y;
    }
  }
};
inline constexpr RhoOffsets kRho;

/// The round constants, by the shift register of degree 8. [FIPS202, 3.2.5]
struct IotaConstants {
  uint64_t at[kKeccakRounds] = {};
  constexpr IotaConstants() {
    unsigned r = 1;
    for (size_t round = 0; round < kKeccakRounds; ++round) {
      for (int j = 0; j < 7; ++j) {
        if (r & 1) at[round] |= uint64_t{1} << ((1 << j) - 1);
        r = (r << 1) ^ ((r >> 7) * 0x171);
      }
    }
  }
};
alignas(64) inline constexpr IotaConstants kIota;

}  // namespace POLYKEM_ISA
}  // namespace polykem::keccak
