// SPDX-License-Identifier: Apache-2.0
#include "prim/keccak/keccak.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/secure.hpp"
#include "prim/keccak/sponge_lanes.hpp"

namespace polykem {

namespace {

void xor_byte(uint64_t state[25], size_t position, uint8_t byte) {
  state[position / 8] ^= keccak::from_word(uint64_t{byte} << (8 * (position % 8)));
}

constexpr bool kLittleEndian = std::endian::native == std::endian::little;

/// Returns eight bytes as a word, the first byte the least significant.
uint64_t load_word(const uint8_t* bytes) {
  uint64_t word = 0;
  if constexpr (kLittleEndian) {
    std::memcpy(&word, bytes, sizeof word);
  } else {
    for (int i = 0; i < 8; ++i)
      word |= uint64_t{bytes[i]} << (8 * i);
  }
  return word;
}

/// Stores the first `count` <= 8 bytes of a word, the least significant first.
void store_word(uint8_t* bytes, uint64_t word, size_t count) {
  if (kLittleEndian && count == 8) {
    std::memcpy(bytes, &word, sizeof word);
    return;
  }
  for (size_t i = 0; i < count; ++i)
    bytes[i] = static_cast<uint8_t>(word >> (8 * i));
}

void store_words(uint8_t* bytes, const uint64_t* lanes, size_t count) {
  for (size_t i = 0; i < count; ++i)
    store_word(bytes + 8 * i, keccak::to_word(lanes[i]), 8);
}

/// Adds `count` words to the lanes of a state.
void add_words(uint64_t* lanes, const uint8_t* bytes, size_t count) {
  for (size_t i = 0; i < count; ++i)
    lanes[i] ^= keccak::from_word(load_word(bytes + 8 * i));
}

/// Absorbs `in`, beginning at byte `position` < rate of a block, and returns the next position. Takes whole words at
/// once.
size_t absorb_bytes(uint64_t state[25], size_t rate, size_t position, std::span<const uint8_t> in) {
  for (size_t i = 0; i < in.size();) {
    if (const size_t words = std::min(rate - position, in.size() - i) / 8; position % 8 == 0 && words > 0) {
      add_words(state + position / 8, in.data() + i, words);
      position += 8 * words;
      i += 8 * words;
    } else {
      xor_byte(state, position++, in[i++]);
    }
    if (position == rate) {
      keccak::permute(state);
      position = 0;
    }
  }
  return position;
}

/// Computes SHA3 with a digest of kBytes bytes; the capacity is twice that. [FIPS202, 6.1]
template <size_t kBytes>
void sha3(uint8_t* out, std::span<const uint8_t> first, std::span<const uint8_t> second) {
  constexpr size_t kRate = 200 - 2 * kBytes;
  uint64_t state[25] = {};
  size_t position = 0;
  for (const auto part : {first, second})
    position = absorb_bytes(state, kRate, position, part);
  xor_byte(state, position, 0x06);
  xor_byte(state, kRate - 1, 0x80);
  keccak::permute(state);
  for (size_t i = 0; i < kBytes; i += 8)
    store_word(out + i, keccak::to_word(state[i / 8]), 8);
  zeroize(state, sizeof state);
}

}  // namespace

void sha3_256(uint8_t out[32], std::span<const uint8_t> first, std::span<const uint8_t> second) {
  sha3<32>(out, first, second);
}

void sha3_512(uint8_t out[64], std::span<const uint8_t> first, std::span<const uint8_t> second) {
  sha3<64>(out, first, second);
}

Shake::~Shake() {
  zeroize(state_, sizeof state_);
}

void Shake::absorb(std::span<const uint8_t> in) {
  position_ = absorb_bytes(state_, rate_, position_, in);
}

void Shake::finish() {
  xor_byte(state_, position_, 0x1f);
  xor_byte(state_, rate_ - 1, 0x80);
  position_ = rate_;
  squeezing_ = true;
}

void Shake::squeeze(std::span<uint8_t> out) {
  if (!squeezing_) finish();
  for (size_t i = 0; i < out.size();) {
    if (position_ == rate_) {
      keccak::permute(state_);
      position_ = 0;
    }
    const size_t shift = position_ % 8;
    if (const size_t words = std::min(rate_ - position_, out.size() - i) / 8; shift == 0 && words > 0) {
      store_words(out.data() + i, state_ + position_ / 8, words);
      position_ += 8 * words;
      i += 8 * words;
      continue;
    }
    const uint64_t word = keccak::to_word(state_[position_ / 8]) >> (8 * shift);
    const size_t now = std::min(8 - shift, out.size() - i);
    store_word(out.data() + i, word, now);
    position_ += now;
    i += now;
  }
}

}  // namespace polykem
