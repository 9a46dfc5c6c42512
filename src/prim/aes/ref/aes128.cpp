// SPDX-License-Identifier: Apache-2.0
// AES-128 on eight blocks at a time, bit-sliced: word b of a state holds bit b of all 128 bytes.
#include "prim/aes/aes128.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/secure.hpp"
#include "prim/aes/ref/sbox.hpp"

namespace polykem {

namespace {

using aes::Bits;

/// Two halves of 64 bits, each with four blocks. Bit 16 c + 4 r + k of a half belongs to row r, column c of block k.
using Word = uint64_t __attribute__((vector_size(16)));
using State = Bits<Word>;

constexpr size_t kHalves = 2, kBlocksOfHalf = 4;
constexpr size_t kBlocks = kHalves * kBlocksOfHalf;
constexpr size_t kRounds = 10;
constexpr size_t kGroupBytes = kBlocks * kAes128BlockBytes;

struct RoundKeys {
  State at[kRounds + 1];
  ~RoundKeys() { secure_zero(at, sizeof at); }
};

/// Bit i of byte j becomes bit j of byte i.
uint64_t transpose_bits(uint64_t x) {
  const auto swap = [&x](uint64_t mask, unsigned distance) {
    const uint64_t difference = (x ^ (x >> distance)) & mask;
    x ^= difference ^ (difference << distance);
  };
  swap(0x00aa00aa00aa00aa, 7);
  swap(0x0000cccc0000cccc, 14);
  swap(0x00000000f0f0f0f0, 28);
  return x;
}

/// Byte of block k at position 8 w + i of a half's bits.
constexpr size_t byte_index(size_t position) {
  return position % kBlocksOfHalf * kAes128BlockBytes + position / kBlocksOfHalf;
}

State load(const uint8_t* in) {
  State state{};
  for (size_t half = 0; half < kHalves; ++half, in += kBlocksOfHalf * kAes128BlockBytes) {
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

void store(uint8_t* out, const State& state) {
  for (size_t half = 0; half < kHalves; ++half, out += kBlocksOfHalf * kAes128BlockBytes) {
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

Word rotate_columns(Word x, unsigned columns) {
  return (x >> (16 * columns)) | (x << (64 - 16 * columns));
}
/// Row r of the result is row r + rows of x. [FIPS197, 5.1.3]
template <unsigned kRows>
Word rotate_rows(Word x) {
  constexpr uint64_t kKept = 0x0001000100010001u * (0xffffu >> (4 * kRows));
  return ((x >> (4 * kRows)) & Word{kKept, kKept}) | ((x << (16 - 4 * kRows)) & ~Word{kKept, kKept});
}

/// Row r moves left by r columns. [FIPS197, 5.1.2]
Word shift_rows(Word x) {
  constexpr uint64_t kRow = 0x000f000f000f000f;
  Word out = x & Word{kRow, kRow};
  for (unsigned r = 1; r < 4; ++r)
    out |= rotate_columns(x, r) & (Word{kRow, kRow} << (4 * r));
  return out;
}

/// [FIPS197, 5.1.3]: 2 a_r + 3 a_(r+1) + a_(r+2) + a_(r+3) = 2 (a_r + a_(r+1)) + a_(r+1) + (a_(r+2) + a_(r+3)).
State mix_columns(const State& a) {
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

/// All rounds. The constant of the S-box is in the round keys: it goes through ShiftRows and MixColumns unchanged.
State encrypt_state(State state, const RoundKeys& keys) {
  const auto add_key = [&](size_t round) {
    for (size_t b = 0; b < 8; ++b)
      state[b] ^= keys.at[round][b];
  };
  add_key(0);
  for (size_t round = 1; round <= kRounds; ++round) {
    state = aes::sub_bytes_linear(state);
    for (Word& word : state)
      word = shift_rows(word);
    if (round < kRounds) state = mix_columns(state);
    add_key(round);
  }
  return state;
}

/// The S-box of four bytes.
void sub_word(uint8_t (&word)[4]) {
  Bits<uint32_t> bits{};
  for (size_t b = 0; b < 8; ++b) {
    for (size_t i = 0; i < 4; ++i)
      bits[b] |= (uint32_t{word[i]} >> b & 1u) << i;
  }
  bits = aes::sub_bytes_linear(bits);
  for (size_t i = 0; i < 4; ++i) {
    unsigned byte = aes::kSubBytesConstant;
    for (size_t b = 0; b < 8; ++b)
      byte ^= (bits[b] >> i & 1u) << b;
    word[i] = static_cast<uint8_t>(byte);
  }
}

/// [FIPS197, 5.2]
void expand_key(RoundKeys& keys, const uint8_t key[kAes128KeyBytes]) {
  uint8_t round_key[kAes128BlockBytes], blocks[kGroupBytes];
  std::memcpy(round_key, key, sizeof round_key);
  unsigned constant = 1;
  for (size_t round = 0; round <= kRounds; ++round) {
    const uint8_t folded = round == 0 ? 0 : aes::kSubBytesConstant;
    for (size_t i = 0; i < kGroupBytes; ++i)
      blocks[i] = static_cast<uint8_t>(round_key[i % kAes128BlockBytes] ^ folded);
    keys.at[round] = load(blocks);
    uint8_t word[4] = {round_key[13], round_key[14], round_key[15], round_key[12]};
    sub_word(word);
    word[0] = static_cast<uint8_t>(word[0] ^ constant);
    constant = (constant << 1) ^ ((constant >> 7) * 0x11b);
    for (size_t i = 0; i < kAes128BlockBytes; ++i)
      round_key[i] = static_cast<uint8_t>(round_key[i] ^ (i < 4 ? word[i] : round_key[i - 4]));
  }
  secure_zero(round_key, sizeof round_key);
  secure_zero(blocks, sizeof blocks);
}

void encrypt_blocks(uint8_t* out, const uint8_t* in, size_t blocks, const RoundKeys& keys) {
  for (; blocks >= kBlocks; blocks -= kBlocks, in += kGroupBytes, out += kGroupBytes)
    store(out, encrypt_state(load(in), keys));
  if (blocks == 0) return;
  uint8_t last[kGroupBytes] = {};
  std::memcpy(last, in, blocks * kAes128BlockBytes);
  store(last, encrypt_state(load(last), keys));
  std::memcpy(out, last, blocks * kAes128BlockBytes);
  secure_zero(last, sizeof last);
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

const Aes128 kAes128Portable = {encrypt, grid};

}  // namespace polykem
