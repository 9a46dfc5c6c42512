// SPDX-License-Identifier: Apache-2.0
// The functions of prim/aes/aes128.hpp for one instruction set, on registers of one block or four.
#pragma once

#include <algorithm>

#include "prim/aes/aes128.hpp"
#include "prim/aes/lanes/blocks.hpp"
#include "prim/aes/lanes/key_schedule128.hpp"

namespace polykem::aes {
inline namespace POLYKEM_ISA {

/// Registers in flight: the CPU starts two AES instructions per cycle, and each takes four cycles.
inline constexpr size_t kRegisters = 8;

/// The round keys, each repeated for all blocks of a register. Their address is not taken, so that they can stay in
/// registers. They are not wiped: FrodoKEM's key is its public seed_A.
struct BlockKeys {
  Blocks at[RoundKeys128::kRounds + 1];
  POLYKEM_INLINE explicit BlockKeys(const RoundKeys128& keys) {
    for (size_t i = 0; i <= RoundKeys128::kRounds; ++i)
      at[i] = Blocks::all(keys.at[i]);
  }
};

template <size_t kCount>
POLYKEM_INLINE void encrypt_registers(Blocks (&block)[kCount], const BlockKeys& keys) {
#pragma GCC unroll 8
  for (size_t i = 0; i < kCount; ++i)
    block[i] = block[i] ^ keys.at[0];
#pragma GCC unroll 16
  for (size_t round = 1; round < RoundKeys128::kRounds; ++round) {
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
    Blocks block[1] = {Blocks::load(in + i * kAes128BlockBytes, count)};
    encrypt_registers(block, keys);
    block[0].store(out + i * kAes128BlockBytes, count);
  }
}

/// kRows rows from `row` on.
template <size_t kRows>
POLYKEM_INLINE void grid_rows(uint16_t* out, size_t stride, const BlockKeys& keys, size_t row, size_t columns) {
  constexpr size_t kColumns = kAes128BlockBytes / sizeof(uint16_t);
  const size_t blocks = columns / kColumns;
  for (size_t j = 0; j < blocks; j += Blocks::kCount) {
    const auto column = static_cast<uint32_t>(j * kColumns);
    const Blocks columns_of_blocks = Blocks::of_word(column << 16) ^ Blocks::of_steps(kColumns << 16);
    Blocks block[kRows];
#pragma GCC unroll 8
    for (size_t k = 0; k < kRows; ++k)
      block[k] = columns_of_blocks ^ Blocks::of_word(static_cast<uint32_t>(row + k));
    encrypt_registers(block, keys);
    uint16_t* const first = out + j * kColumns;
    if (const size_t left = blocks - j; left >= Blocks::kCount) {
#pragma GCC unroll 8
      for (size_t k = 0; k < kRows; ++k)
        block[k].store(first + k * stride);
    } else {
#pragma GCC unroll 8
      for (size_t k = 0; k < kRows; ++k)
        block[k].store(first + k * stride, left);
    }
  }
}

inline void grid(uint16_t* out, size_t stride, const uint8_t key[kAes128KeyBytes], size_t first_row, size_t rows,
                 size_t columns) {
  const RoundKeys128 round_keys(key);
  const BlockKeys keys(round_keys);
  size_t k = 0;
  for (; k + kRegisters <= rows; k += kRegisters)
    grid_rows<kRegisters>(out + k * stride, stride, keys, first_row + k, columns);
  for (; k < rows; ++k)
    grid_rows<1>(out + k * stride, stride, keys, first_row + k, columns);
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::aes
