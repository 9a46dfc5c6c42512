// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arm_neon.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/secure.hpp"
#include "prim/simd/isa.hpp"

namespace polykem::aes {
inline namespace POLYKEM_ISA {

/// Applies the S-box to each byte of the word. Where all columns are equal, the ShiftRows of the instruction changes
/// nothing. [FIPS197, 5.2]
POLYKEM_INLINE uint32_t sub_word(uint32_t word) {
  const uint8x16_t columns = vreinterpretq_u8_u32(vdupq_n_u32(word));
  return vgetq_lane_u32(vreinterpretq_u32_u8(vaeseq_u8(columns, vdupq_n_u8(0))), 0);
}

/// The round keys of a key of kKeyWords words. The destructor zeroizes them. [FIPS197, 5.2]
template <size_t kKeyWords>
struct RoundKeys {
  static constexpr size_t kRounds = kKeyWords + 6;
  uint8x16_t at[kRounds + 1];

  explicit RoundKeys(const uint8_t* key) {
    constexpr size_t kWords = 4 * (kRounds + 1);
    uint32_t w[kWords];
    std::memcpy(w, key, 4 * kKeyWords);
    uint32_t constant = 1;
    for (size_t i = kKeyWords; i < kWords; ++i) {
      uint32_t word = w[i - 1];
      if (i % kKeyWords == 0) {
        word = sub_word(std::rotr(word, 8)) ^ constant;
        constant = constant << 1 ^ (constant >> 7) * 0x11b;
      } else if (kKeyWords > 6 && i % kKeyWords == 4) {
        word = sub_word(word);
      }
      w[i] = w[i - kKeyWords] ^ word;
    }
    for (size_t i = 0; i <= kRounds; ++i)
      at[i] = vreinterpretq_u8_u32(vld1q_u32(w + 4 * i));
    zeroize(w, sizeof w);
  }
  ~RoundKeys() { zeroize(at, sizeof at); }
  RoundKeys(const RoundKeys&) = delete;
  RoundKeys& operator=(const RoundKeys&) = delete;
};

using RoundKeys128 = RoundKeys<4>;
using RoundKeys256 = RoundKeys<8>;

/// Encrypts kCount blocks, all in flight. One instruction adds a round key and substitutes, another mixes the columns.
template <size_t kCount, class Keys>
POLYKEM_INLINE void encrypt_blocks(uint8x16_t (&block)[kCount], const Keys& keys) {
#pragma GCC unroll 16
  for (size_t round = 0; round + 1 < Keys::kRounds; ++round) {
#pragma GCC unroll 8
    for (size_t i = 0; i < kCount; ++i)
      block[i] = vaesmcq_u8(vaeseq_u8(block[i], keys.at[round]));
  }
#pragma GCC unroll 8
  for (size_t i = 0; i < kCount; ++i)
    block[i] = vaeseq_u8(block[i], keys.at[Keys::kRounds - 1]) ^ keys.at[Keys::kRounds];
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::aes
