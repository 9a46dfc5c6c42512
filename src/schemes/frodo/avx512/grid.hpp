// SPDX-License-Identifier: Apache-2.0
// A by AES-128, in blocks of 8 rows and 32 columns. Two rounds come from tables of what rows and columns contribute;
// eight rounds are left. [FRODO21, Algorithm 7]
#pragma once

#include "core/arena.hpp"
#include "core/round.hpp"
#include "prim/aes/lanes/grid128.hpp"

namespace polykem::frodo::lanes {
inline namespace POLYKEM_ISA {

using aes::Blocks;
using aes::RoundKeys128;

inline constexpr size_t kStepRows = 8, kStepColumns = aes::kGridColumns;
/// Returns the number of steps that generate n columns. Columns are generated in whole steps.
constexpr size_t steps_of_columns(size_t n) {
  return divided_up(n, kStepColumns);
}
/// Returns the number of rows in the tables: n, rounded up to whole steps.
constexpr size_t rows_in_tables(size_t n) {
  return rounded_up(n, kStepColumns);
}

/// Tables of what rows and columns contribute, for one seed.
struct GridTables {
  __m128i* rows;
  Blocks* columns;

  static constexpr size_t bytes(size_t n) {
    return Arena::bytes<__m128i>(rows_in_tables(n)) + Arena::bytes<Blocks>(steps_of_columns(n));
  }
  GridTables(Arena& arena, size_t n)
      : rows(arena.take<__m128i>(rows_in_tables(n))), columns(arena.take<Blocks>(steps_of_columns(n))) {}

  void fill(const RoundKeys128& keys, size_t n) const {
    const aes::GridParts parts(keys);
    for (size_t i = 0; i < rows_in_tables(n); i += Blocks::kCount)
      parts.rows(i).store(rows + i);
    for (size_t j = 0; j < steps_of_columns(n); ++j)
      columns[j] = parts.columns(j * kStepColumns);
  }
};

/// The keys of the rounds that are left. Not zeroized: the key is the public seed of A.
struct GridKeys {
  static constexpr size_t kFirst = 1 + aes::kGridRounds, kCount = RoundKeys128::kRounds - kFirst + 1;
  Blocks at[kCount];
  POLYKEM_INLINE explicit GridKeys(const RoundKeys128& keys) {
    for (size_t i = 0; i < kCount; ++i)
      at[i] = Blocks::all(keys.at[kFirst + i]);
  }
};

/// Generates 32 words of each of 8 rows, whose parts begin at `rows`.
POLYKEM_INLINE void generate_step(Blocks (&row)[kStepRows], const GridKeys& keys, Blocks column, const __m128i* rows) {
#pragma GCC unroll 8
  for (size_t i = 0; i < kStepRows; ++i)
    row[i] = Blocks::all(_mm_load_si128(rows + i)) ^ column;
#pragma GCC unroll 8
  for (size_t round = 0; round + 1 < GridKeys::kCount; ++round) {
#pragma GCC unroll 8
    for (size_t i = 0; i < kStepRows; ++i)
      row[i] = row[i].round(keys.at[round]);
  }
#pragma GCC unroll 8
  for (size_t i = 0; i < kStepRows; ++i)
    row[i] = row[i].last_round(keys.at[GridKeys::kCount - 1]);
}

/// A of one seed, whose tables are filled.
struct Grid {
  const GridTables& tables;
  GridKeys keys;
  POLYKEM_INLINE Grid(const GridTables& of, const RoundKeys128& round_keys) : tables(of), keys(round_keys) {}
  /// Generates rows i .. i + 7 and columns j .. j + 31. Those beyond n are undefined.
  POLYKEM_INLINE void step(Blocks (&row)[kStepRows], size_t i, size_t j) const {
    generate_step(row, keys, tables.columns[j / kStepColumns], tables.rows + i);
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::frodo::lanes
