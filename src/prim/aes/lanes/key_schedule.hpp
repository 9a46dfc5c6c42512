// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "prim/simd/isa.hpp"

namespace polykem::aes {
inline namespace POLYKEM_ISA {

inline constexpr size_t kRoundKeys = 15;

/// Returns the words w0, w0 ^ w1, w0 ^ w1 ^ w2, .. of a register, with `first` added to each. [FIPS197, 5.2]
POLYKEM_INLINE __m128i chain_words(__m128i words, __m128i first) {
  words = _mm_xor_si128(words, _mm_slli_si128(words, 4));
  words = _mm_xor_si128(words, _mm_slli_si128(words, 8));
  return _mm_xor_si128(words, first);
}

/// Derives keys[2] and, if `both`, keys[3] from keys[0] and keys[1]. kConstant is the round constant of keys[2]. `both`
/// is false for the last round key, which no other one follows.
template <int kConstant>
POLYKEM_INLINE void next_round_keys(__m128i* keys, bool both = true) {
  keys[2] = chain_words(keys[0], _mm_shuffle_epi32(_mm_aeskeygenassist_si128(keys[1], kConstant), 0xff));
  if (both) keys[3] = chain_words(keys[1], _mm_shuffle_epi32(_mm_aeskeygenassist_si128(keys[2], 0), 0xaa));
}

POLYKEM_INLINE void expand_key(__m128i (&keys)[kRoundKeys], const uint8_t* key) {
  keys[0] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(key));
  keys[1] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(key + 16));
  next_round_keys<0x01>(keys);
  next_round_keys<0x02>(keys + 2);
  next_round_keys<0x04>(keys + 4);
  next_round_keys<0x08>(keys + 6);
  next_round_keys<0x10>(keys + 8);
  next_round_keys<0x20>(keys + 10);
  next_round_keys<0x40>(keys + 12, false);
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::aes
