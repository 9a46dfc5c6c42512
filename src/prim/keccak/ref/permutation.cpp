// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <bit>
#include <utility>

#include "prim/keccak/keccak.hpp"
#include "prim/keccak/round_constants.hpp"

namespace polykem {

namespace {

struct RhoPi {
  std::array<uint8_t, 25> source{};  ///< the word of theta's output that becomes word i
  std::array<uint8_t, 25> offset{};  ///< its rotation
};

/// rho's offsets and pi's positions in one table. [FIPS202, Alg. 2 and 3]
consteval RhoPi rho_pi() {
  std::array<uint8_t, 25> rotation{};
  int x = 1, y = 0;
  for (int t = 0; t < 24; ++t) {
    rotation[x + 5 * y] = static_cast<uint8_t>(((t + 1) * (t + 2) / 2) % 64);
    const int next_y = (2 * x + 3 * y) % 5;
    x = y;
    y = next_y;
  }
  RhoPi table;
  for (int py = 0; py < 5; ++py) {
    for (int px = 0; px < 5; ++px) {
      const int from = (px + 3 * py) % 5 + 5 * px;
      table.source[px + 5 * py] = static_cast<uint8_t>(from);
      table.offset[px + 5 * py] = rotation[from];
    }
  }
  return table;
}

constexpr auto kRoundConstants = keccak_round_constants();
constexpr auto kRhoPi = rho_pi();

/// Row kRow of a round's result after theta's change of the columns. Indices are template arguments throughout: with
/// loops, compilers gather words into small vectors, which takes twice the time.
template <size_t kRow, size_t... kX>
inline void row(uint64_t* out, const uint64_t* in, const uint64_t* change, std::index_sequence<kX...>) {
  const uint64_t b[] = {std::rotl(in[kRhoPi.source[kX + 5 * kRow]] ^ change[kRhoPi.source[kX + 5 * kRow] % 5],
                                  kRhoPi.offset[kX + 5 * kRow])...};
  ((out[kX + 5 * kRow] = b[kX] ^ (~b[(kX + 1) % 5] & b[(kX + 2) % 5])), ...);
}

template <size_t... k>
inline void round(uint64_t* out, const uint64_t* in, uint64_t constant, std::index_sequence<k...> five) {
  const uint64_t parity[] = {(in[k] ^ in[k + 5] ^ in[k + 10] ^ in[k + 15] ^ in[k + 20])...};
  const uint64_t change[] = {(parity[(k + 4) % 5] ^ std::rotl(parity[(k + 1) % 5], 1))...};
  (row<k>(out, in, change, five), ...);
  out[0] ^= constant;
}

}  // namespace

void keccak_f1600(uint64_t state[25]) {
  constexpr auto kFive = std::make_index_sequence<5>();
  uint64_t other[25];
  for (int i = 0; i < kKeccakRounds; i += 2) {
    round(other, state, kRoundConstants[i], kFive);
    round(state, other, kRoundConstants[i + 1], kFive);
  }
}

}  // namespace polykem
