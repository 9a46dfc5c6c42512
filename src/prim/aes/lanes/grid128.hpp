// SPDX-License-Identifier: Apache-2.0
// The first two rounds of AES-128 over the grid of blocks that makes up FrodoKEM's matrix. [FRODO21, Algorithm 7]
//
// The input of the block at row i, column j is zero but for the words i and j, and the first round brings each of their
// four bytes into a column of the state by itself. So after two rounds the state is the exclusive or of what the row
// and what the column contribute. Both are computed once, and eight rounds are left.
#pragma once

#include "prim/aes/lanes/blocks.hpp"
#include "prim/aes/lanes/key_schedule128.hpp"

namespace polykem::aes {
inline namespace POLYKEM_ISA {

inline constexpr size_t kGridBlockColumns = 8;
inline constexpr size_t kGridColumns = kGridBlockColumns * Blocks::kCount;  ///< columns of the grid per register
inline constexpr size_t kGridRounds = 2;

/// Computes what rows and columns contribute to the state after kGridRounds rounds, for one key.
class GridParts {
 public:
  POLYKEM_INLINE explicit GridParts(const RoundKeys128& keys)
      : first_(Blocks::all(keys.at[0])), second_(Blocks::all(keys.at[1])), third_(Blocks::all(keys.at[2])) {
    origin_ = two_rounds(Blocks::of_word(0));
  }
  /// Returns what rows i to i + Blocks::kCount - 1 contribute, a block for each.
  POLYKEM_INLINE Blocks rows(size_t i) const {
    return two_rounds(Blocks::of_word(static_cast<uint32_t>(i)) + Blocks::of_multiples(1));
  }
  /// Returns what columns j to j + kGridColumns - 1 contribute, a block for every eight columns.
  POLYKEM_INLINE Blocks columns(size_t j) const {
    const Blocks input =
        Blocks::of_word(static_cast<uint32_t>(j) << 16) + Blocks::of_multiples(kGridBlockColumns << 16);
    return two_rounds(input) ^ origin_;
  }

 private:
  POLYKEM_INLINE Blocks two_rounds(Blocks block) const { return (block ^ first_).round(second_).round(third_); }

  Blocks first_, second_, third_;
  Blocks origin_;  ///< the state of row 0 and column 0, which rows() includes
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::aes
