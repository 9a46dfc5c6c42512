// SPDX-License-Identifier: Apache-2.0
#include "prim/aes/aes256_ctr.hpp"

#include <algorithm>
#include <cstring>

#include "core/secure.hpp"
#include "prim/aes/ref/sliced.hpp"

namespace polykem {

namespace {

constexpr size_t kRounds = 14;
using RoundKeys = aes::sliced::RoundKeys<kRounds>;

/// Computes the round keys of AES-256. They come in pairs; the second of a pair takes no rotation and no constant.
/// [FIPS197, 5.2]
void expand_key(RoundKeys& keys, const uint8_t key[kAes256KeyBytes]) {
  uint8_t pair[2][kAesBlockBytes];
  std::memcpy(pair, key, kAes256KeyBytes);
  unsigned constant = 1;
  for (size_t round = 0; round <= kRounds; ++round) {
    auto& half = pair[round % 2];
    const auto& other = pair[(round + 1) % 2];
    if (round >= 2) {
      const bool even = round % 2 == 0;
      uint8_t word[4];
      for (size_t i = 0; i < 4; ++i)
        word[i] = other[12 + (i + (even ? 1 : 0)) % 4];
      aes::sliced::sub_word(word);
      if (even) {
        word[0] = static_cast<uint8_t>(word[0] ^ constant);
        constant = aes::sliced::next_constant(constant);
      }
      for (size_t i = 0; i < kAesBlockBytes; ++i)
        half[i] = static_cast<uint8_t>(half[i] ^ (i < 4 ? word[i] : half[i - 4]));
    }
    keys.at[round] = aes::sliced::slice_round_key(half, round == 0);
  }
  zeroize(pair, sizeof pair);
}

}  // namespace

Aes256Keystream::Aes256Keystream() : key{}, nonce(0), counter(0) {}
Aes256Keystream::~Aes256Keystream() {
  zeroize(key, sizeof key);
}

void aes256_ctr_portable(uint8_t* out, size_t length, const uint8_t key[kAes256KeyBytes], uint64_t nonce,
                         uint64_t counter) {
  RoundKeys keys;
  expand_key(keys, key);
  uint8_t blocks[aes::sliced::kGroupBytes];
  while (length > 0) {
    for (size_t i = 0; i < aes::sliced::kBlocks; ++i, ++counter) {
      for (size_t j = 0; j < 8; ++j) {
        blocks[i * kAesBlockBytes + j] = static_cast<uint8_t>(nonce >> (8 * j));
        blocks[i * kAesBlockBytes + 8 + j] = static_cast<uint8_t>(counter >> (56 - 8 * j));
      }
    }
    aes::sliced::store(blocks, encrypt_state(aes::sliced::load(blocks), keys));
    const size_t now = std::min(length, sizeof blocks);
    std::memcpy(out, blocks, now);
    out += now;
    length -= now;
  }
  zeroize(blocks, sizeof blocks);
}

}  // namespace polykem
