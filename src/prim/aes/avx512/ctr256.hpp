// SPDX-License-Identifier: Apache-2.0
// The keystream of AES-256 in counter mode, four blocks in a register.
#pragma once

#include "prim/aes/lanes/key_schedule.hpp"

namespace polykem::aes {
inline namespace POLYKEM_ISA {

inline constexpr size_t kBlocksOfRegister = 4;

/// Returns the counter blocks of a stream's first register. The nonce is the lower half of each block, the counter the
/// upper half, both lowest byte first.
POLYKEM_INLINE __m512i first_counters(uint64_t nonce, uint64_t counter) {
  const auto low = static_cast<long long>(nonce), high = static_cast<long long>(counter);
  return _mm512_add_epi64(_mm512_set_epi64(high, low, high, low, high, low, high, low),
                          _mm512_set_epi64(3, 0, 2, 0, 1, 0, 0, 0));
}
/// Returns the counter blocks of the register that lies `registers` registers after that of `counters`.
POLYKEM_INLINE __m512i later_counters(__m512i counters, size_t registers) {
  const auto ahead = static_cast<long long>(kBlocksOfRegister) * static_cast<long long>(registers);
  return _mm512_add_epi64(counters, _mm512_set_epi64(ahead, 0, ahead, 0, ahead, 0, ahead, 0));
}

/// Reverses the bytes of the counter in the upper half of each block, from lowest first to highest first.
POLYKEM_INLINE __m512i turn_counters(__m512i blocks) {
  const __m128i order = _mm_set_epi8(8, 9, 10, 11, 12, 13, 14, 15, 7, 6, 5, 4, 3, 2, 1, 0);
  return _mm512_shuffle_epi8(blocks, _mm512_broadcast_i32x4(order));
}

/// Writes kCount registers of keystream; `counters` are the counter blocks of the first one.
template <size_t kCount>
POLYKEM_INLINE void keystream_blocks(uint8_t* out, const __m128i (&keys)[kRoundKeys], __m512i counters) {
  __m512i block[kCount];
  for (size_t i = 0; i < kCount; ++i)
    block[i] = _mm512_xor_si512(turn_counters(later_counters(counters, i)), _mm512_broadcast_i32x4(keys[0]));
  for (size_t round = 1; round < kRoundKeys - 1; ++round) {
    const __m512i round_key = _mm512_broadcast_i32x4(keys[round]);
    for (size_t i = 0; i < kCount; ++i)
      block[i] = _mm512_aesenc_epi128(block[i], round_key);
  }
  const __m512i last_key = _mm512_broadcast_i32x4(keys[kRoundKeys - 1]);
  for (size_t i = 0; i < kCount; ++i)
    _mm512_storeu_si512(out + i * sizeof(__m512i), _mm512_aesenclast_epi128(block[i], last_key));
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::aes
