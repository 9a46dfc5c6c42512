// SPDX-License-Identifier: Apache-2.0
// Rows of an A by SHAKE as they leave eight-way Keccak: a register has a word of 64 bits, four columns, of each of
// eight rows. [FRODO21, Algorithm 8]
#pragma once

#include <algorithm>
#include <cstring>

#include "prim/keccak/lanes/keccak_lanes.hpp"
#include "schemes/frodo/params.hpp"

namespace polykem::frodo::lanes {
inline namespace POLYKEM_ISA {

inline constexpr size_t kRowsOfGroup = 8, kColumnsOfWord = 4;
inline constexpr size_t kRateWords = 21;  ///< the rate of SHAKE128

/// The states of eight rows. `word` has the form that KeccakFunctions::permute takes; its first kRateWords are a block
/// of the rows.
struct alignas(64) RowStates {
  uint64_t word[polykem::keccak::kStateWords][kRowsOfGroup];

  /// Absorbs the numbers of eight rows and the seed: what row_input() in gen_a.cpp writes, with SHAKE's padding.
  POLYKEM_INLINE void begin(const uint8_t* seed_a, size_t row) {
    static_assert(kSeedABytes == 16);
    constexpr uint64_t kSuffix = 0x1f, kLastBit = uint64_t{1} << 63;
    uint64_t low, high;
    std::memcpy(&low, seed_a, sizeof low);
    std::memcpy(&high, seed_a + sizeof low, sizeof high);
    std::memset(word, 0, sizeof word);
    for (size_t i = 0; i < kRowsOfGroup; ++i) {
      word[0][i] = low << 16 | (row + i);
      word[1][i] = high << 16 | low >> 48;
      word[2][i] = kSuffix << 16 | high >> 48;
      word[kRateWords - 1][i] = kLastBit;
    }
  }
  POLYKEM_INLINE void permute() { polykem::keccak::keccak_permute(word[0]); }
  POLYKEM_INLINE __m512i at(size_t w) const { return _mm512_load_si512(word[w]); }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::frodo::lanes
