// SPDX-License-Identifier: Apache-2.0
#include "prim/aes/aes256_ctr.hpp"

#include <cstring>

#include "prim/aes/neon/key_schedule.hpp"

namespace polykem {

namespace {

constexpr size_t kBlocks = 8;
constexpr size_t kBytesAtOnce = kBlocks * kAesBlockBytes;

POLYKEM_INLINE void keystream_blocks(uint8_t* out, const aes::RoundKeys256& keys, uint64_t nonce, uint64_t counter) {
  uint8x16_t block[kBlocks];
  for (size_t i = 0; i < kBlocks; ++i) {
    const uint64x2_t words = vcombine_u64(vcreate_u64(nonce), vcreate_u64(__builtin_bswap64(counter + i)));
    block[i] = vreinterpretq_u8_u64(words);
  }
  aes::encrypt_blocks(block, keys);
  for (size_t i = 0; i < kBlocks; ++i)
    vst1q_u8(out + i * kAesBlockBytes, block[i]);
}

}  // namespace

void aes256_ctr_neon(uint8_t* out, size_t length, const uint8_t key[kAes256KeyBytes], uint64_t nonce,
                     uint64_t counter) {
  const aes::RoundKeys256 keys(key);
  for (; length >= kBytesAtOnce; length -= kBytesAtOnce, out += kBytesAtOnce, counter += kBlocks)
    keystream_blocks(out, keys, nonce, counter);
  if (length == 0) return;
  uint8_t last[kBytesAtOnce];
  keystream_blocks(last, keys, nonce, counter);
  std::memcpy(out, last, length);
  zeroize(last, sizeof last);
}

}  // namespace polykem
