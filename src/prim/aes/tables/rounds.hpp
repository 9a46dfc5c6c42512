// SPDX-License-Identifier: Apache-2.0
// A round of AES as sixteen look-ups. One table of words holds SubBytes and MixColumns for row 0; its words are rotated
// for the other rows. A column is a word with row 0 in its lowest byte. Keys and blocks decide addresses.
// [FIPS197, 5.1]
#pragma once

#include <array>
#include <bit>
#include <iterator>

#include "prim/aes/aes128.hpp"

namespace polykem::aes::tables {

inline constexpr size_t kRounds = 10;

constexpr uint8_t times_2(uint8_t x) {
  return static_cast<uint8_t>((x << 1) ^ (x >> 7) * 0x1b);
}

/// The S-box. The powers of 3 are all elements but 0, and 3^(255 - i) is the inverse of 3^i. [FIPS197, 5.1.1]
inline constexpr auto kSbox = [] {
  std::array<uint8_t, 256> power{}, sbox{};
  uint8_t x = 1;
  for (size_t i = 0; i < 256; ++i) {
    power[i] = x;
    x = static_cast<uint8_t>(x ^ times_2(x));
  }
  sbox[0] = 0x63;
  for (size_t i = 0; i < 255; ++i) {
    const uint8_t inverse = power[255 - i];
    uint8_t sum = 0x63;
    for (int turn = 0; turn < 5; ++turn)
      sum = static_cast<uint8_t>(sum ^ std::rotl(inverse, turn));
    sbox[power[i]] = sum;
  }
  return sbox;
}();

/// The column that MixColumns makes of the S-box's value of a byte in row 0: 2, 1, 1 and 3 times that value.
inline constexpr auto kTable = [] {
  std::array<uint32_t, 256> table{};
  for (size_t i = 0; i < 256; ++i) {
    const uint32_t s = kSbox[i], twice = times_2(kSbox[i]);
    table[i] = twice | s << 8 | s << 16 | (twice ^ s) << 24;
  }
  return table;
}();

struct RoundKeys {
  uint32_t words[4 * (kRounds + 1)];
};

inline uint32_t sub_word(uint32_t x) {
  return uint32_t{kSbox[x & 0xff]} | uint32_t{kSbox[x >> 8 & 0xff]} << 8 | uint32_t{kSbox[x >> 16 & 0xff]} << 16 |
         uint32_t{kSbox[x >> 24]} << 24;
}

inline uint32_t load(const uint8_t* bytes) {
  return bytes[0] | uint32_t{bytes[1]} << 8 | uint32_t{bytes[2]} << 16 | uint32_t{bytes[3]} << 24;
}
inline void store(uint8_t* bytes, uint32_t word) {
  for (size_t i = 0; i < 4; ++i)
    bytes[i] = static_cast<uint8_t>(word >> (8 * i));
}

/// Computes the round keys. [FIPS197, 5.2]
inline void expand_key(RoundKeys& keys, const uint8_t key[kAes128KeyBytes]) {
  for (size_t i = 0; i < 4; ++i)
    keys.words[i] = load(key + 4 * i);
  uint8_t constant = 1;
  for (size_t i = 4; i < std::size(keys.words); ++i) {
    uint32_t word = keys.words[i - 1];
    if (i % 4 == 0) {
      word = sub_word(std::rotr(word, 8)) ^ constant;
      constant = times_2(constant);
    }
    keys.words[i] = keys.words[i - 4] ^ word;
  }
}

/// Returns a column after SubBytes, ShiftRows and MixColumns, from the columns that its rows come from.
inline uint32_t mixed(uint32_t row0, uint32_t row1, uint32_t row2, uint32_t row3) {
  return kTable[row0 & 0xff] ^ std::rotl(kTable[row1 >> 8 & 0xff], 8) ^ std::rotl(kTable[row2 >> 16 & 0xff], 16) ^
         std::rotl(kTable[row3 >> 24], 24);
}

/// Returns a column after SubBytes and ShiftRows, as the last round needs it.
inline uint32_t substituted(uint32_t row0, uint32_t row1, uint32_t row2, uint32_t row3) {
  return sub_word((row0 & 0xff) | (row1 & 0xff00) | (row2 & 0xff0000) | (row3 & 0xff000000));
}

struct Block {
  uint32_t c0, c1, c2, c3;
};

inline Block encrypt_block(Block b, const RoundKeys& keys) {
  const uint32_t* key = keys.words;
  b = {b.c0 ^ key[0], b.c1 ^ key[1], b.c2 ^ key[2], b.c3 ^ key[3]};
  for (size_t round = 1; round < kRounds; ++round) {
    key += 4;
    b = {mixed(b.c0, b.c1, b.c2, b.c3) ^ key[0], mixed(b.c1, b.c2, b.c3, b.c0) ^ key[1],
         mixed(b.c2, b.c3, b.c0, b.c1) ^ key[2], mixed(b.c3, b.c0, b.c1, b.c2) ^ key[3]};
  }
  key += 4;
  return {substituted(b.c0, b.c1, b.c2, b.c3) ^ key[0], substituted(b.c1, b.c2, b.c3, b.c0) ^ key[1],
          substituted(b.c2, b.c3, b.c0, b.c1) ^ key[2], substituted(b.c3, b.c0, b.c1, b.c2) ^ key[3]};
}

}  // namespace polykem::aes::tables
