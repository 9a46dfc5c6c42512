// SPDX-License-Identifier: Apache-2.0
#include "prim/aes/aes256_ctr.hpp"

#include <cstring>

#include "core/secure.hpp"
#include "prim/aes/lanes/key_schedule.hpp"

namespace polykem {

namespace {

constexpr size_t kBlocksOfRegister = 4;
constexpr size_t kRegisters = 8;
constexpr size_t kBytesAtOnce = kRegisters * kBlocksOfRegister * kAesBlockBytes;

/// Reverses the bytes of the counter in the upper half of each block, from lowest first to highest first.
POLYKEM_INLINE __m512i turn_counters(__m512i blocks) {
  const __m128i order = _mm_set_epi8(8, 9, 10, 11, 12, 13, 14, 15, 7, 6, 5, 4, 3, 2, 1, 0);
  return _mm512_shuffle_epi8(blocks, _mm512_broadcast_i32x4(order));
}

/// Writes kCount registers of keystream. counters: those of the first register, lowest byte first.
template <size_t kCount>
POLYKEM_INLINE void keystream_blocks(uint8_t* out, const __m128i (&keys)[aes::kRoundKeys], __m512i counters) {
  __m512i block[kCount];
  for (size_t i = 0; i < kCount; ++i) {
    const auto ahead = static_cast<long long>(kBlocksOfRegister * i);
    const __m512i step = _mm512_set_epi64(ahead, 0, ahead, 0, ahead, 0, ahead, 0);
    block[i] = _mm512_xor_si512(turn_counters(_mm512_add_epi64(counters, step)), _mm512_broadcast_i32x4(keys[0]));
  }
  for (size_t round = 1; round < aes::kRoundKeys - 1; ++round) {
    const __m512i round_key = _mm512_broadcast_i32x4(keys[round]);
    for (size_t i = 0; i < kCount; ++i)
      block[i] = _mm512_aesenc_epi128(block[i], round_key);
  }
  const __m512i last_key = _mm512_broadcast_i32x4(keys[aes::kRoundKeys - 1]);
  for (size_t i = 0; i < kCount; ++i)
    _mm512_storeu_si512(out + i * sizeof(__m512i), _mm512_aesenclast_epi128(block[i], last_key));
}

}  // namespace

void aes256_ctr_avx512(uint8_t* out, size_t length, const uint8_t key[kAes256KeyBytes], uint64_t nonce,
                       uint64_t counter) {
  __m128i keys[aes::kRoundKeys];
  aes::expand_key(keys, key);
  const auto low = static_cast<long long>(nonce), high = static_cast<long long>(counter);
  __m512i counters = _mm512_add_epi64(_mm512_set_epi64(high, low, high, low, high, low, high, low),
                                      _mm512_set_epi64(3, 0, 2, 0, 1, 0, 0, 0));
  constexpr long long kAhead = kRegisters * kBlocksOfRegister;
  const __m512i step = _mm512_set_epi64(kAhead, 0, kAhead, 0, kAhead, 0, kAhead, 0);
  for (; length >= kBytesAtOnce; length -= kBytesAtOnce, out += kBytesAtOnce) {
    keystream_blocks<kRegisters>(out, keys, counters);
    counters = _mm512_add_epi64(counters, step);
  }
  if (length > 0) {
    uint8_t last[kBytesAtOnce];
    if (length <= sizeof(__m512i)) {
      keystream_blocks<1>(last, keys, counters);
    } else {
      keystream_blocks<kRegisters>(last, keys, counters);
    }
    std::memcpy(out, last, length);
    secure_zero(last, sizeof last);
  }
  secure_zero(keys, sizeof keys);
}

}  // namespace polykem
