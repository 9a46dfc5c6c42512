// SPDX-License-Identifier: Apache-2.0
// AES on eight blocks at a time, bit-sliced: word b of a state holds bit b of all 128 bytes. [FIPS197]
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/isa.hpp"
#include "core/secure.hpp"
#include "prim/aes/ref/sbox.hpp"

namespace polykem::aes::sliced {
inline namespace POLYKEM_ISA {

/// A word has two halves of 64 bits, each with four blocks. Bit 16 c + 4 r + k of a half belongs to row r, column c of
/// block k.
using Word = uint64_t __attribute__((vector_size(16)));
using State = Bits<Word>;

inline constexpr size_t kHalves = 2, kBlocksOfHalf = 4;
inline constexpr size_t kBlocks = kHalves * kBlocksOfHalf;
inline constexpr size_t kBlockBytes = 16;
inline constexpr size_t kGroupBytes = kBlocks * kBlockBytes;

/// The round keys, each repeated for all blocks. The destructor zeroizes them.
template <size_t kRounds>
struct RoundKeys {
  State at[kRounds + 1];
  ~RoundKeys() { zeroize(at, sizeof at); }
};

/// Transposes 8 x 8 bits: bit i of byte j becomes bit j of byte i.
inline uint64_t transpose_bits(uint64_t x) {
  const auto swap = [&x](uint64_t mask, unsigned distance) {
    const uint64_t difference = (x ^ (x >> distance)) & mask;
    x ^= difference ^ (difference << distance);
  };
  swap(0x00aa00aa00aa00aa, 7);
  swap(0x0000cccc0000cccc, 14);
  swap(0x00000000f0f0f0f0, 28);
  return x;
}

/// Returns the index, in the four blocks of a half, of the byte that is at bit `position` of the half.
constexpr size_t byte_index(size_t position) {
  return position % kBlocksOfHalf * kBlockBytes + position / kBlocksOfHalf;
}

inline State load(const uint8_t* in) {
  State state{};
  for (size_t half = 0; half < kHalves; ++half, in += kBlocksOfHalf * kBlockBytes) {
    for (size_t w = 0; w < 8; ++w) {
      uint64_t bytes = 0;
      for (size_t i = 0; i < 8; ++i)
        bytes |= uint64_t{in[byte_index(8 * w + i)]} << (8 * i);
      bytes = transpose_bits(bytes);
      for (size_t b = 0; b < 8; ++b)
        state[b][half] |= (bytes >> (8 * b) & 0xff) << (8 * w);
    }
  }
  return state;
}

inline void store(uint8_t* out, const State& state) {
  for (size_t half = 0; half < kHalves; ++half, out += kBlocksOfHalf * kBlockBytes) {
    for (size_t w = 0; w < 8; ++w) {
      uint64_t bits = 0;
      for (size_t b = 0; b < 8; ++b)
        bits |= (state[b][half] >> (8 * w) & 0xff) << (8 * b);
      bits = transpose_bits(bits);
      for (size_t i = 0; i < 8; ++i)
        out[byte_index(8 * w + i)] = static_cast<uint8_t>(bits >> (8 * i));
    }
  }
}

inline Word rotate_columns(Word x, unsigned columns) {
  return (x >> (16 * columns)) | (x << (64 - 16 * columns));
}
/// Rotates the rows of each column: row r of the result is row r + kRows of x, modulo 4. [FIPS197, 5.1.3]
template <unsigned kRows>
Word rotate_rows(Word x) {
  constexpr uint64_t kKept = 0x0001000100010001u * (0xffffu >> (4 * kRows));
  return ((x >> (4 * kRows)) & Word{kKept, kKept}) | ((x << (16 - 4 * kRows)) & ~Word{kKept, kKept});
}

/// Moves row r left by r columns. [FIPS197, 5.1.2]
inline Word shift_rows(Word x) {
  constexpr uint64_t kRow = 0x000f000f000f000f;
  Word out = x & Word{kRow, kRow};
  for (unsigned r = 1; r < 4; ++r)
    out |= rotate_columns(x, r) & (Word{kRow, kRow} << (4 * r));
  return out;
}

/// Computes 2 a_r + 3 a_(r+1) + a_(r+2) + a_(r+3) = 2 (a_r + a_(r+1)) + a_(r+1) + (a_(r+2) + a_(r+3)). [FIPS197, 5.1.3]
inline State mix_columns(const State& a) {
  State below, sum, out;
  for (size_t b = 0; b < 8; ++b) {
    below[b] = rotate_rows<1>(a[b]);
    sum[b] = a[b] ^ below[b];
  }
  constexpr unsigned kPolynomial = 0x1b;
  for (size_t b = 0; b < 8; ++b) {
    out[b] = below[b] ^ rotate_rows<2>(sum[b]);
    if (b > 0) out[b] ^= sum[b - 1];
    if (kPolynomial >> b & 1) out[b] ^= sum[7];
  }
  return out;
}

/// Encrypts the blocks of a state. The S-box's constant is in the round keys: it goes through ShiftRows and MixColumns
/// unchanged.
template <size_t kRounds>
State encrypt_state(State state, const RoundKeys<kRounds>& keys) {
  const auto add_key = [&](size_t round) {
    for (size_t b = 0; b < 8; ++b)
      state[b] ^= keys.at[round][b];
  };
  add_key(0);
  for (size_t round = 1; round <= kRounds; ++round) {
    state = sub_bytes_linear(state);
    for (Word& word : state)
      word = shift_rows(word);
    if (round < kRounds) state = mix_columns(state);
    add_key(round);
  }
  return state;
}

/// Applies the S-box to four bytes.
inline void sub_word(uint8_t (&word)[4]) {
  Bits<uint32_t> bits{};
  for (size_t b = 0; b < 8; ++b) {
    for (size_t i = 0; i < 4; ++i)
      bits[b] |= (uint32_t{word[i]} >> b & 1u) << i;
  }
  bits = sub_bytes_linear(bits);
  for (size_t i = 0; i < 4; ++i) {
    unsigned byte = kSubBytesConstant;
    for (size_t b = 0; b < 8; ++b)
      byte ^= (bits[b] >> i & 1u) << b;
    word[i] = static_cast<uint8_t>(byte);
  }
}

/// Returns a round key for every block. The S-box's constant is added to all round keys but the first. [FIPS197, 5.1.4]
inline State slice_round_key(const uint8_t (&round_key)[kBlockBytes], bool first) {
  uint8_t blocks[kGroupBytes];
  for (size_t i = 0; i < kGroupBytes; ++i)
    blocks[i] = static_cast<uint8_t>(round_key[i % kBlockBytes] ^ (first ? 0 : kSubBytesConstant));
  const State state = load(blocks);
  zeroize(blocks, sizeof blocks);
  return state;
}

/// Returns the round constant after `constant`; they are x^i for i = 0, 1, .. [FIPS197, 5.2]
inline unsigned next_constant(unsigned constant) {
  return (constant << 1) ^ ((constant >> 7) * 0x11b);
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::aes::sliced
