// SPDX-License-Identifier: Apache-2.0
#include "prim/aes/aes128.hpp"
#include "prim/aes/lanes/key_schedule128.hpp"

namespace polykem {

namespace {

using aes::RoundKeys128;

/// Blocks in flight: two instructions a cycle, each of which takes four.
constexpr size_t kBlocks = 8;
constexpr size_t kColumnsOfBlock = 8;

template <size_t kCount>
POLYKEM_INLINE void encrypt_registers(__m128i (&block)[kCount], const RoundKeys128& keys) {
#pragma GCC unroll 8
  for (size_t i = 0; i < kCount; ++i)
    block[i] = _mm_xor_si128(block[i], keys.at[0]);
#pragma GCC unroll 16
  for (size_t round = 1; round < RoundKeys128::kRounds; ++round) {
#pragma GCC unroll 8
    for (size_t i = 0; i < kCount; ++i)
      block[i] = _mm_aesenc_si128(block[i], keys.at[round]);
  }
#pragma GCC unroll 8
  for (size_t i = 0; i < kCount; ++i)
    block[i] = _mm_aesenclast_si128(block[i], keys.at[RoundKeys128::kRounds]);
}

void encrypt(uint8_t* out, const uint8_t* in, size_t blocks, const uint8_t key[kAes128KeyBytes]) {
  const RoundKeys128 keys(key);
  for (size_t i = 0; i < blocks; ++i) {
    __m128i block[1] = {_mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i * kAes128BlockBytes))};
    encrypt_registers(block, keys);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i * kAes128BlockBytes), block[0]);
  }
}

/// kRows rows from `row` on.
template <size_t kRows>
POLYKEM_INLINE void grid_rows(uint16_t* out, size_t stride, const RoundKeys128& keys, size_t row, size_t columns) {
  for (size_t j = 0; j < columns; j += kColumnsOfBlock) {
    __m128i block[kRows];
#pragma GCC unroll 8
    for (size_t k = 0; k < kRows; ++k)
      block[k] = _mm_cvtsi32_si128(static_cast<int>((row + k) | j << 16));
    encrypt_registers(block, keys);
#pragma GCC unroll 8
    for (size_t k = 0; k < kRows; ++k)
      _mm_storeu_si128(reinterpret_cast<__m128i*>(out + k * stride + j), block[k]);
  }
}

void grid(uint16_t* out, size_t stride, const uint8_t key[kAes128KeyBytes], size_t first_row, size_t rows,
          size_t columns) {
  const RoundKeys128 keys(key);
  size_t k = 0;
  for (; k + kBlocks <= rows; k += kBlocks)
    grid_rows<kBlocks>(out + k * stride, stride, keys, first_row + k, columns);
  for (; k < rows; ++k)
    grid_rows<1>(out + k * stride, stride, keys, first_row + k, columns);
}

}  // namespace

const Aes128 kAes128Avx2 = {encrypt, grid};

}  // namespace polykem
