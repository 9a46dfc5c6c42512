// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "prim/aes/aes128.hpp"
#include "prim/aes/lanes/key_schedule128.hpp"

namespace polykem {

namespace {

using aes::RoundKeys128;

constexpr size_t kBlocksOfRegister = 4;
constexpr size_t kColumnsOfRegister = 32;
/// Registers in flight: two instructions a cycle, each of which takes four.
constexpr size_t kRegisters = 8;

/// The round keys, each four times.
struct WideKeys {
  __m512i at[RoundKeys128::kRounds + 1];
  POLYKEM_INLINE explicit WideKeys(const RoundKeys128& keys) {
    for (size_t i = 0; i <= RoundKeys128::kRounds; ++i)
      at[i] = _mm512_broadcast_i32x4(keys.at[i]);
  }
};

template <size_t kCount>
POLYKEM_INLINE void encrypt_registers(__m512i (&block)[kCount], const WideKeys& keys) {
#pragma GCC unroll 16
  for (size_t i = 0; i < kCount; ++i)
    block[i] = _mm512_xor_si512(block[i], keys.at[0]);
#pragma GCC unroll 16
  for (size_t round = 1; round < RoundKeys128::kRounds; ++round) {
#pragma GCC unroll 16
    for (size_t i = 0; i < kCount; ++i)
      block[i] = _mm512_aesenc_epi128(block[i], keys.at[round]);
  }
#pragma GCC unroll 16
  for (size_t i = 0; i < kCount; ++i)
    block[i] = _mm512_aesenclast_epi128(block[i], keys.at[RoundKeys128::kRounds]);
}

void encrypt(uint8_t* out, const uint8_t* in, size_t blocks, const uint8_t key[kAes128KeyBytes]) {
  const RoundKeys128 round_keys(key);
  const WideKeys keys(round_keys);
  for (size_t i = 0; i < blocks; i += kBlocksOfRegister) {
    const size_t left = blocks - i;
    const auto words = static_cast<__mmask8>(left < kBlocksOfRegister ? (1u << (2 * left)) - 1 : 0xff);
    __m512i block[1] = {_mm512_maskz_loadu_epi64(words, in + i * kAes128BlockBytes)};
    encrypt_registers(block, keys);
    _mm512_mask_storeu_epi64(out + i * kAes128BlockBytes, words, block[0]);
  }
}

/// kRows rows from `row` on.
template <size_t kRows>
POLYKEM_INLINE void grid_rows(uint16_t* out, size_t stride, const WideKeys& keys, size_t row, size_t columns) {
  constexpr int kStep = kColumnsOfRegister << 16, kNext = 8 << 16;
  __m512i first = _mm512_set_epi32(0, 0, 0, 3 * kNext, 0, 0, 0, 2 * kNext, 0, 0, 0, kNext, 0, 0, 0, 0);
  const __m512i step = _mm512_set_epi32(0, 0, 0, kStep, 0, 0, 0, kStep, 0, 0, 0, kStep, 0, 0, 0, kStep);
  for (size_t j = 0; j < columns; j += kColumnsOfRegister) {
    __m512i block[kRows];
#pragma GCC unroll 16
    for (size_t k = 0; k < kRows; ++k) {
      const auto number = static_cast<int>(row + k);
      block[k] = _mm512_or_si512(first, _mm512_maskz_set1_epi32(0x1111, number));
    }
    encrypt_registers(block, keys);
    const size_t left = columns - j;
    if (left >= kColumnsOfRegister) {
#pragma GCC unroll 16
      for (size_t k = 0; k < kRows; ++k)
        _mm512_storeu_si512(out + k * stride + j, block[k]);
    } else {
      const auto words = static_cast<__mmask32>((1u << left) - 1);
#pragma GCC unroll 16
      for (size_t k = 0; k < kRows; ++k)
        _mm512_mask_storeu_epi16(out + k * stride + j, words, block[k]);
    }
    first = _mm512_add_epi32(first, step);
  }
}

void grid(uint16_t* out, size_t stride, const uint8_t key[kAes128KeyBytes], size_t first_row, size_t rows,
          size_t columns) {
  const RoundKeys128 round_keys(key);
  const WideKeys keys(round_keys);
  size_t k = 0;
  for (; k + kRegisters <= rows; k += kRegisters)
    grid_rows<kRegisters>(out + k * stride, stride, keys, first_row + k, columns);
  for (; k < rows; ++k)
    grid_rows<1>(out + k * stride, stride, keys, first_row + k, columns);
}

}  // namespace

const Aes128 kAes128Avx512 = {encrypt, grid};

}  // namespace polykem
