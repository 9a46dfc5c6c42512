// SPDX-License-Identifier: Apache-2.0
#include "prim/aes/aes256_ctr.hpp"

#include <cstring>

#include "core/secure.hpp"
#include "prim/aes/lanes/key_schedule.hpp"

namespace polykem {

namespace {

constexpr size_t kBlocks = 8;
constexpr size_t kBytesAtOnce = kBlocks * kAesBlockBytes;

POLYKEM_INLINE void keystream_blocks(uint8_t* out, const __m128i (&keys)[aes::kRoundKeys], uint64_t nonce,
                                     uint64_t counter) {
  __m128i block[kBlocks];
  for (size_t i = 0; i < kBlocks; ++i) {
    const auto high = static_cast<long long>(__builtin_bswap64(counter + i));
    block[i] = _mm_xor_si128(_mm_set_epi64x(high, static_cast<long long>(nonce)), keys[0]);
  }
  for (size_t round = 1; round < aes::kRoundKeys - 1; ++round) {
    for (size_t i = 0; i < kBlocks; ++i)
      block[i] = _mm_aesenc_si128(block[i], keys[round]);
  }
  for (size_t i = 0; i < kBlocks; ++i) {
    block[i] = _mm_aesenclast_si128(block[i], keys[aes::kRoundKeys - 1]);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i * kAesBlockBytes), block[i]);
  }
}

}  // namespace

void aes256_ctr_avx2(uint8_t* out, size_t length, const uint8_t key[kAes256KeyBytes], uint64_t nonce,
                     uint64_t counter) {
  __m128i keys[aes::kRoundKeys];
  aes::expand_key(keys, key);
  for (; length >= kBytesAtOnce; length -= kBytesAtOnce, out += kBytesAtOnce, counter += kBlocks)
    keystream_blocks(out, keys, nonce, counter);
  if (length > 0) {
    uint8_t last[kBytesAtOnce];
    keystream_blocks(last, keys, nonce, counter);
    std::memcpy(out, last, length);
    zeroize(last, sizeof last);
  }
  zeroize(keys, sizeof keys);
}

}  // namespace polykem
