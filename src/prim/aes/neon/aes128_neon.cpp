// SPDX-License-Identifier: Apache-2.0
#include "prim/aes/aes128.hpp"
#include "prim/aes/neon/key_schedule.hpp"

namespace polykem {

namespace {

using aes::RoundKeys128;

constexpr size_t kBlocks = 8;

void encrypt(uint8_t* out, const uint8_t* in, size_t blocks, const uint8_t key[kAes128KeyBytes]) {
  const RoundKeys128 keys(key);
  for (size_t i = 0; i < blocks; ++i) {
    uint8x16_t block[1] = {vld1q_u8(in + i * kAes128BlockBytes)};
    aes::encrypt_blocks(block, keys);
    vst1q_u8(out + i * kAes128BlockBytes, block[0]);
  }
}

/// Writes columns j to j + 8 kCount - 1 of row `row` of the grid.
template <size_t kCount>
POLYKEM_INLINE void grid_blocks(uint16_t* out, const RoundKeys128& keys, uint32_t row, uint32_t j) {
  uint8x16_t block[kCount];
#pragma GCC unroll 8
  for (uint32_t i = 0; i < kCount; ++i)
    block[i] = vreinterpretq_u8_u32(vsetq_lane_u32(row | (j + 8 * i) << 16, vdupq_n_u32(0), 0));
  aes::encrypt_blocks(block, keys);
#pragma GCC unroll 8
  for (size_t i = 0; i < kCount; ++i)
    vst1q_u16(out + 8 * i, vreinterpretq_u16_u8(block[i]));
}

void grid(uint16_t* out, size_t stride, const uint8_t key[kAes128KeyBytes], size_t first_row, size_t rows,
          size_t columns) {
  const RoundKeys128 keys(key);
  for (size_t k = 0; k < rows; ++k) {
    const auto row = static_cast<uint32_t>(first_row + k);
    uint16_t* to = out + k * stride;
    size_t j = 0;
    for (; j + 8 * kBlocks <= columns; j += 8 * kBlocks)
      grid_blocks<kBlocks>(to + j, keys, row, static_cast<uint32_t>(j));
    for (; j < columns; j += 8)
      grid_blocks<1>(to + j, keys, row, static_cast<uint32_t>(j));
  }
}

}  // namespace

const Aes128Functions kAes128Neon = {encrypt, grid};

}  // namespace polykem
