// SPDX-License-Identifier: Apache-2.0
// The functions of prim/aes/aes128.hpp for one instruction set, on registers of one, two or four blocks.
#pragma once

#include <algorithm>

#include "prim/aes/aes128.hpp"
#include "prim/aes/lanes/grid128.hpp"

namespace polykem::aes {
inline namespace POLYKEM_ISA {

/// The number of registers in flight: the CPU starts two AES instructions per cycle, and each takes four cycles.
inline constexpr size_t kRegisters = 8;

/// The round keys, each repeated for all blocks of a register. Their address is not taken, so that they can stay in
/// registers. They are not zeroized: FrodoKEM's key is its public seed_A.
struct BlockKeys {
  Blocks at[RoundKeys128::kRounds + 1];
  POLYKEM_INLINE explicit BlockKeys(const RoundKeys128& keys) {
    for (size_t i = 0; i <= RoundKeys128::kRounds; ++i)
      at[i] = Blocks::all(keys.at[i]);
  }
};

/// Computes rounds kFirst to 10 of kCount registers in place.
template <size_t kFirst, size_t kCount>
POLYKEM_INLINE void run_rounds(Blocks (&block)[kCount], const BlockKeys& keys) {
#pragma GCC unroll 16
  for (size_t round = kFirst; round < RoundKeys128::kRounds; ++round) {
#pragma GCC unroll 8
    for (size_t i = 0; i < kCount; ++i)
      block[i] = block[i].round(keys.at[round]);
  }
#pragma GCC unroll 8
  for (size_t i = 0; i < kCount; ++i)
    block[i] = block[i].last_round(keys.at[RoundKeys128::kRounds]);
}

inline void encrypt(uint8_t* out, const uint8_t* in, size_t blocks, const uint8_t key[kAes128KeyBytes]) {
  const RoundKeys128 round_keys(key);
  const BlockKeys keys(round_keys);
  for (size_t i = 0; i < blocks; i += Blocks::kCount) {
    const size_t count = std::min(blocks - i, Blocks::kCount);
    Blocks block[1] = {Blocks::load(in + i * kAes128BlockBytes, count) ^ keys.at[0]};
    run_rounds<1>(block, keys);
    block[0].store(out + i * kAes128BlockBytes, count);
  }
}

/// Up to kColumns columns of the grid: what they contribute to the state (grid128.hpp), and how many blocks they are.
struct GridPanel {
  static constexpr size_t kRegisters = 64 / Blocks::kCount, kColumns = kRegisters * kGridColumns;
  Blocks columns[kRegisters];
  size_t blocks;

  POLYKEM_INLINE GridPanel(const GridParts& parts, size_t first, size_t count) : blocks(count / kGridBlockColumns) {
    for (size_t j = 0; j < count; j += kGridColumns)
      columns[j / kGridColumns] = parts.columns(first + j);
  }
};

/// Writes kRows rows of a panel; `rows` is what each of them contributes to the state.
template <size_t kRows>
POLYKEM_INLINE void grid_rows(uint16_t* out, size_t stride, const BlockKeys& keys, const GridPanel& panel,
                              const __m128i* rows) {
  for (size_t j = 0; j < panel.blocks; j += Blocks::kCount, out += kGridColumns) {
    const Blocks columns = panel.columns[j / Blocks::kCount];
    Blocks block[kRows];
#pragma GCC unroll 8
    for (size_t k = 0; k < kRows; ++k)
      block[k] = columns ^ Blocks::all(rows[k]);
    run_rounds<1 + kGridRounds>(block, keys);
    if (const size_t left = panel.blocks - j; left >= Blocks::kCount) {
#pragma GCC unroll 8
      for (size_t k = 0; k < kRows; ++k)
        block[k].store(out + k * stride);
    } else {
#pragma GCC unroll 8
      for (size_t k = 0; k < kRows; ++k)
        block[k].store(out + k * stride, left);
    }
  }
}

inline void grid(uint16_t* out, size_t stride, const uint8_t key[kAes128KeyBytes], size_t first_row, size_t rows,
                 size_t columns) {
  const RoundKeys128 round_keys(key);
  const GridParts parts(round_keys);
  const BlockKeys keys(round_keys);
  for (size_t j = 0; j < columns; j += GridPanel::kColumns) {
    const GridPanel panel(parts, j, std::min(columns - j, GridPanel::kColumns));
    for (size_t k = 0; k < rows; k += kRegisters) {
      __m128i of_rows[kRegisters];
      for (size_t i = 0; i < kRegisters; i += Blocks::kCount)
        parts.rows(first_row + k + i).store(of_rows + i);
      const size_t now = std::min(rows - k, kRegisters);
      uint16_t* const first = out + k * stride + j;
      if (now == kRegisters) {
        grid_rows<kRegisters>(first, stride, keys, panel, of_rows);
      } else {
        for (size_t i = 0; i < now; ++i)
          grid_rows<1>(first + i * stride, stride, keys, panel, of_rows + i);
      }
    }
  }
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::aes
