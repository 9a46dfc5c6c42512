// SPDX-License-Identifier: Apache-2.0
// ChaCha20's block function. The device's generator and the host's tests both compile it. [RFC8439, 2.3]
#pragma once

#include <cstdint>

namespace polykem::cuda {

inline constexpr int kChaChaWords = 16;  ///< 32-bit words of a state and of a block

namespace chacha20 {

constexpr uint32_t rotated(uint32_t x, int left) {
  return (x << left) | (x >> (32 - left));
}

constexpr void quarter_round(uint32_t& a, uint32_t& b, uint32_t& c, uint32_t& d) {
  a += b, d = rotated(d ^ a, 16);
  c += d, b = rotated(b ^ c, 12);
  a += b, d = rotated(d ^ a, 8);
  c += d, b = rotated(b ^ c, 7);
}

constexpr void double_round(uint32_t (&x)[kChaChaWords]) {
  quarter_round(x[0], x[4], x[8], x[12]);
  quarter_round(x[1], x[5], x[9], x[13]);
  quarter_round(x[2], x[6], x[10], x[14]);
  quarter_round(x[3], x[7], x[11], x[15]);
  quarter_round(x[0], x[5], x[10], x[15]);
  quarter_round(x[1], x[6], x[11], x[12]);
  quarter_round(x[2], x[7], x[8], x[13]);
  quarter_round(x[3], x[4], x[9], x[14]);
}

}  // namespace chacha20

/// Sets `block` to the words of block `counter` of the keystream. `key` is 8 words.
constexpr void chacha20_block(uint32_t (&block)[kChaChaWords], const uint32_t* key, uint32_t counter, uint32_t nonce0,
                              uint32_t nonce1, uint32_t nonce2) {
  constexpr uint32_t kConstants[] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};  // "expand 32-byte k"
  for (int j = 0; j < 4; ++j)
    block[j] = kConstants[j];
  for (int j = 0; j < 8; ++j)
    block[4 + j] = key[j];
  block[12] = counter, block[13] = nonce0, block[14] = nonce1, block[15] = nonce2;
  for (int round = 0; round < 20; round += 2)
    chacha20::double_round(block);
  for (int j = 0; j < 4; ++j)
    block[j] += kConstants[j];
  for (int j = 0; j < 8; ++j)
    block[4 + j] += key[j];
  block[12] += counter, block[13] += nonce0, block[14] += nonce1, block[15] += nonce2;
}

}  // namespace polykem::cuda
