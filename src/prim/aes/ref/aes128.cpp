// SPDX-License-Identifier: Apache-2.0
#include "prim/aes/aes128.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "prim/aes/ref/sliced.hpp"

namespace polykem {

namespace {

using aes::sliced::encrypt_state;
using aes::sliced::kBlocks;
using aes::sliced::kGroupBytes;
using aes::sliced::load;
using aes::sliced::store;

constexpr size_t kRounds = 10;
using RoundKeys = aes::sliced::RoundKeys<kRounds>;

/// Computes the round keys of AES-128. [FIPS197, 5.2]
void expand_key(RoundKeys& keys, const uint8_t key[kAes128KeyBytes]) {
  uint8_t round_key[kAes128BlockBytes];
  std::memcpy(round_key, key, sizeof round_key);
  unsigned constant = 1;
  for (size_t round = 0; round <= kRounds; ++round) {
    keys.at[round] = aes::sliced::slice_round_key(round_key, round == 0);
    uint8_t word[4] = {round_key[13], round_key[14], round_key[15], round_key[12]};
    aes::sliced::sub_word(word);
    word[0] = static_cast<uint8_t>(word[0] ^ constant);
    constant = aes::sliced::next_constant(constant);
    for (size_t i = 0; i < kAes128BlockBytes; ++i)
      round_key[i] = static_cast<uint8_t>(round_key[i] ^ (i < 4 ? word[i] : round_key[i - 4]));
  }
  zeroize(round_key, sizeof round_key);
}

void encrypt_blocks(uint8_t* out, const uint8_t* in, size_t blocks, const RoundKeys& keys) {
  for (; blocks >= kBlocks; blocks -= kBlocks, in += kGroupBytes, out += kGroupBytes)
    store(out, encrypt_state(load(in), keys));
  if (blocks == 0) return;
  uint8_t last[kGroupBytes] = {};
  std::memcpy(last, in, blocks * kAes128BlockBytes);
  store(last, encrypt_state(load(last), keys));
  std::memcpy(out, last, blocks * kAes128BlockBytes);
  zeroize(last, sizeof last);
}

void encrypt(uint8_t* out, const uint8_t* in, size_t blocks, const uint8_t key[kAes128KeyBytes]) {
  RoundKeys keys;
  expand_key(keys, key);
  encrypt_blocks(out, in, blocks, keys);
}

void grid(uint16_t* out, size_t stride, const uint8_t key[kAes128KeyBytes], size_t first_row, size_t rows,
          size_t columns) {
  RoundKeys keys;
  expand_key(keys, key);
  for (size_t i = first_row; i < first_row + rows; ++i, out += stride) {
    auto* bytes = reinterpret_cast<uint8_t*>(out);
    std::memset(bytes, 0, columns * 2);
    for (size_t j = 0; j < columns; j += 8) {
      const uint8_t words[4] = {static_cast<uint8_t>(i), static_cast<uint8_t>(i >> 8), static_cast<uint8_t>(j),
                                static_cast<uint8_t>(j >> 8)};
      std::memcpy(bytes + j * 2, words, sizeof words);
    }
    encrypt_blocks(bytes, bytes, columns / 8, keys);
    if constexpr (std::endian::native == std::endian::big) {
      for (size_t j = 0; j < columns; ++j)
        out[j] = static_cast<uint16_t>(out[j] << 8 | out[j] >> 8);
    }
  }
}

}  // namespace

const Aes128Functions kAes128Portable = {encrypt, grid};

}  // namespace polykem
