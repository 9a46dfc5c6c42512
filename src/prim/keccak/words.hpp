// SPDX-License-Identifier: Apache-2.0
// Keccak-f[1600] on one state in general registers and memory. [FIPS202, 3.3]
#pragma once

#include <bit>
#include <utility>

#include "prim/keccak/constants.hpp"

namespace polykem::keccak {
inline namespace POLYKEM_ISA {

/// Computes row kRow of a round and adds it to the sums of its columns, `sums`. Indices are template arguments, because
/// with loops compilers gather words into small vectors, which takes twice the time.
template <size_t kRow, size_t... kX>
POLYKEM_INLINE void word_row(uint64_t* out, uint64_t* sums, const uint64_t* in, const uint64_t* change, uint64_t iota,
                             std::index_sequence<kX...>) {
  const uint64_t b[5] = {std::rotl(in[(kX + 3 * kRow) % 5 + 5 * kX] ^ change[(kX + 3 * kRow) % 5],
                                   kRho.at[(kX + 3 * kRow) % 5 + 5 * kX])...};
  const uint64_t chi[5] = {(b[kX] ^ (~b[(kX + 1) % 5] & b[(kX + 2) % 5]))...};
  const uint64_t row[5] = {(kX + kRow == 0 ? chi[0] ^ iota : chi[kX])...};
  ((out[kX + 5 * kRow] = row[kX]), ...);
  ((sums[kX] = kRow == 0 ? row[kX] : sums[kX] ^ row[kX]), ...);
}

/// Computes a round. `sums` are the sums of the columns of `in`, and afterwards of `out`; they are added up while the
/// words are still in registers.
template <size_t... kY>
POLYKEM_INLINE void word_round(uint64_t* out, uint64_t* sums, const uint64_t* in, uint64_t iota,
                               std::index_sequence<kY...> five) {
  const uint64_t change[5] = {(sums[(kY + 4) % 5] ^ std::rotl(sums[(kY + 1) % 5], 1))...};
  (word_row<kY>(out, sums, in, change, iota, five), ...);
}

/// Permutes a state of kStateWords words, of which word x + 5 y is the standard's lane (x, y).
POLYKEM_INLINE void permute_words(uint64_t* state) {
  constexpr auto kFive = std::make_index_sequence<5>();
  uint64_t other[kStateWords], sums[5];
  for (size_t x = 0; x < 5; ++x)
    sums[x] = state[x] ^ state[x + 5] ^ state[x + 10] ^ state[x + 15] ^ state[x + 20];
  for (size_t i = 0; i < kKeccakRounds; i += 2) {
    word_round(other, sums, state, kIota.at[i], kFive);
    word_round(state, sums, other, kIota.at[i + 1], kFive);
  }
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::keccak
