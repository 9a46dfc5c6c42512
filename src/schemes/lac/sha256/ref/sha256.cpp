// SPDX-License-Identifier: Apache-2.0
#include "schemes/lac/sha256/sha256.hpp"

#include <bit>

#include "core/secure.hpp"
#include "schemes/lac/sha256/constants.hpp"
#include "schemes/lac/sha256/padding.hpp"

namespace polykem {

namespace {

uint32_t load_word(const uint8_t* p) {
  return uint32_t{p[0]} << 24 | uint32_t{p[1]} << 16 | uint32_t{p[2]} << 8 | p[3];
}

/// [FIPS180, 6.2.2]
void compress(uint32_t (&h)[8], const uint8_t* block) {
  uint32_t w[16], s[8];
  for (size_t i = 0; i < 16; ++i)
    w[i] = load_word(block + 4 * i);
  for (size_t i = 0; i < 8; ++i)
    s[i] = h[i];
  for (size_t t = 0; t < sha256::kRounds; ++t) {
    uint32_t& word = w[t % 16];
    if (t >= 16) {
      const uint32_t early = w[(t + 1) % 16], late = w[(t + 14) % 16];
      word += (std::rotr(early, 7) ^ std::rotr(early, 18) ^ (early >> 3)) + w[(t + 9) % 16] +
              (std::rotr(late, 17) ^ std::rotr(late, 19) ^ (late >> 10));
    }
    const uint32_t a = s[0], e = s[4];
    const uint32_t t1 = s[7] + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + (s[6] ^ (e & (s[5] ^ s[6]))) +
                        sha256::kRound[t] + word;
    const uint32_t t2 = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & s[1]) | (s[2] & (a | s[1])));
    for (size_t i = 7; i > 0; --i)
      s[i] = s[i - 1];
    s[4] += t1;
    s[0] = t1 + t2;
  }
  for (size_t i = 0; i < 8; ++i)
    h[i] += s[i];
}

}  // namespace

void sha256_portable(ByteRows out, ConstByteRows in, size_t length, size_t count) {
  const sha256::Blocks blocks(length);
  uint8_t last[2 * kSha256BlockBytes];
  for (size_t i = 0; i < count; ++i) {
    const uint8_t* message = in.data + i * in.stride;
    uint32_t h[8];
    for (size_t j = 0; j < 8; ++j)
      h[j] = sha256::kInitial[j];
    for (size_t b = 0; b < blocks.whole; ++b)
      compress(h, message + b * kSha256BlockBytes);
    blocks.pad(last, message);
    for (size_t b = 0; b < blocks.padded; ++b)
      compress(h, last + b * kSha256BlockBytes);
    for (size_t j = 0; j < kSha256Bytes; ++j)
      out.data[i * out.stride + j] = static_cast<uint8_t>(h[j / 4] >> (24 - 8 * (j % 4)));
  }
  zeroize(last, sizeof last);
}

}  // namespace polykem
