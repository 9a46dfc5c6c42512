// SPDX-License-Identifier: Apache-2.0
#include "prim/keccak/keccak.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "core/secure.hpp"

namespace polykem {

namespace {

constexpr int kRounds = 24;

/// Round constants from the degree-8 LFSR. [FIPS202, Alg. 5 and 6]
consteval std::array<uint64_t, kRounds> round_constants() {
  std::array<uint64_t, kRounds> constants{};
  unsigned lfsr = 1;
  for (auto& constant : constants) {
    for (int j = 0; j <= 6; ++j) {
      if (lfsr & 1) constant |= uint64_t{1} << ((1 << j) - 1);
      lfsr = (lfsr << 1) ^ ((lfsr >> 7) * 0x171);
    }
  }
  return constants;
}

struct RhoPi {
  std::array<uint8_t, 25> source{};  ///< the word of theta's output that becomes word i
  std::array<uint8_t, 25> offset{};  ///< its rotation
};

/// rho's offsets and pi's positions in one table. [FIPS202, Alg. 2 and 3]
consteval RhoPi rho_pi() {
  std::array<uint8_t, 25> rotation{};
  int x = 1, y = 0;
  for (int t = 0; t < 24; ++t) {
    rotation[x + 5 * y] = static_cast<uint8_t>(((t + 1) * (t + 2) / 2) % 64);
    const int next_y = (2 * x + 3 * y) % 5;
    x = y;
    y = next_y;
  }
  RhoPi table;
  for (int py = 0; py < 5; ++py) {
    for (int px = 0; px < 5; ++px) {
      const int from = (px + 3 * py) % 5 + 5 * px;
      table.source[px + 5 * py] = static_cast<uint8_t>(from);
      table.offset[px + 5 * py] = rotation[from];
    }
  }
  return table;
}

constexpr auto kRoundConstants = round_constants();
constexpr auto kRhoPi = rho_pi();

/// Row kRow of a round's result after theta's change of the columns. Indices are template arguments throughout: with
/// loops, compilers gather words into small vectors, which takes twice the time.
template <size_t kRow, size_t... kX>
inline void row(uint64_t* out, const uint64_t* in, const uint64_t* change, std::index_sequence<kX...>) {
  const uint64_t b[] = {std::rotl(in[kRhoPi.source[kX + 5 * kRow]] ^ change[kRhoPi.source[kX + 5 * kRow] % 5],
                                  kRhoPi.offset[kX + 5 * kRow])...};
  ((out[kX + 5 * kRow] = b[kX] ^ (~b[(kX + 1) % 5] & b[(kX + 2) % 5])), ...);
}

template <size_t... k>
inline void round(uint64_t* out, const uint64_t* in, uint64_t constant, std::index_sequence<k...> five) {
  const uint64_t parity[] = {(in[k] ^ in[k + 5] ^ in[k + 10] ^ in[k + 15] ^ in[k + 20])...};
  const uint64_t change[] = {(parity[(k + 4) % 5] ^ std::rotl(parity[(k + 1) % 5], 1))...};
  (row<k>(out, in, change, five), ...);
  out[0] ^= constant;
}

void xor_byte(uint64_t state[25], size_t position, uint8_t byte) {
  state[position / 8] ^= uint64_t{byte} << (8 * (position % 8));
}

/// Eight bytes, the first the least significant; compilers make one load of it.
uint64_t load_word(const uint8_t* bytes) {
  uint64_t word = 0;
  for (int i = 0; i < 8; ++i)
    word |= uint64_t{bytes[i]} << (8 * i);
  return word;
}

/// The first `count` <= 8 bytes of a word, the least significant first.
void store_word(uint8_t* bytes, uint64_t word, size_t count) {
  if (count == 8) {
    for (int i = 0; i < 8; ++i)
      bytes[i] = static_cast<uint8_t>(word >> (8 * i));
    return;
  }
  for (size_t i = 0; i < count; ++i)
    bytes[i] = static_cast<uint8_t>(word >> (8 * i));
}

/// Absorbs `in`, beginning at byte `position` < rate of a block, and returns the next position. Takes whole words at
/// once.
size_t absorb_bytes(uint64_t state[25], size_t rate, size_t position, std::span<const uint8_t> in) {
  for (size_t i = 0; i < in.size();) {
    if (position % 8 == 0 && in.size() - i >= 8) {
      state[position / 8] ^= load_word(in.data() + i);
      position += 8;
      i += 8;
    } else {
      xor_byte(state, position++, in[i++]);
    }
    if (position == rate) {
      keccak_f1600(state);
      position = 0;
    }
  }
  return position;
}

/// SHA3 with a digest of kBytes bytes; the capacity is twice that. [FIPS202, 6.1]
template <size_t kBytes>
void sha3(uint8_t* out, std::span<const uint8_t> first, std::span<const uint8_t> second) {
  constexpr size_t kRate = 200 - 2 * kBytes;
  uint64_t state[25] = {};
  size_t position = 0;
  for (const auto part : {first, second})
    position = absorb_bytes(state, kRate, position, part);
  xor_byte(state, position, 0x06);
  xor_byte(state, kRate - 1, 0x80);
  keccak_f1600(state);
  for (size_t i = 0; i < kBytes; ++i)
    out[i] = static_cast<uint8_t>(state[i / 8] >> (8 * (i % 8)));
  secure_zero(state, sizeof state);
}

}  // namespace

void keccak_f1600(uint64_t state[25]) {
  constexpr auto kFive = std::make_index_sequence<5>();
  uint64_t other[25];
  for (int i = 0; i < kRounds; i += 2) {
    round(other, state, kRoundConstants[i], kFive);
    round(state, other, kRoundConstants[i + 1], kFive);
  }
}

void sha3_256(uint8_t out[32], std::span<const uint8_t> first, std::span<const uint8_t> second) {
  sha3<32>(out, first, second);
}

void sha3_512(uint8_t out[64], std::span<const uint8_t> first, std::span<const uint8_t> second) {
  sha3<64>(out, first, second);
}

Shake::~Shake() {
  secure_zero(state_, sizeof state_);
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
      keccak_f1600(state_);
      position_ = 0;
    }
    const size_t shift = position_ % 8;
    const uint64_t word = state_[position_ / 8] >> (8 * shift);
    const size_t now = std::min(8 - shift, out.size() - i);
    store_word(out.data() + i, word, now);
    position_ += now;
    i += now;
  }
}

}  // namespace polykem
