// SPDX-License-Identifier: Apache-2.0
#include "prim/keccak/keccak.hpp"

#include <array>
#include <bit>

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
  std::array<uint8_t, 25> source{};  ///< lane of the theta output that lands in lane i
  std::array<uint8_t, 25> offset{};  ///< by how much it was rotated
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

void round(uint64_t a[25], uint64_t constant) {
  uint64_t parity[5], b[25];
  for (int x = 0; x < 5; ++x) parity[x] = a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20];
  for (int x = 0; x < 5; ++x) {
    const uint64_t d = parity[(x + 4) % 5] ^ std::rotl(parity[(x + 1) % 5], 1);
    for (int y = 0; y < 25; y += 5) a[x + y] ^= d;
  }
#pragma GCC unroll 25
  for (int i = 0; i < 25; ++i) b[i] = std::rotl(a[kRhoPi.source[i]], kRhoPi.offset[i]);
  for (int y = 0; y < 25; y += 5) {
#pragma GCC unroll 5
    for (int x = 0; x < 5; ++x) a[x + y] = b[x + y] ^ (~b[(x + 1) % 5 + y] & b[(x + 2) % 5 + y]);
  }
  a[0] ^= constant;
}

void xor_byte(uint64_t state[25], size_t position, uint8_t byte) {
  state[position / 8] ^= uint64_t{byte} << (8 * (position % 8));
}

}  // namespace

void keccak_f1600(uint64_t state[25]) {
  for (const uint64_t constant : kRoundConstants) round(state, constant);
}

void sha3_256(uint8_t out[32], std::span<const uint8_t> first, std::span<const uint8_t> second) {
  constexpr size_t kRate = 136;
  uint64_t state[25] = {};
  size_t position = 0;
  for (const auto part : {first, second}) {
    for (const uint8_t byte : part) {
      xor_byte(state, position++, byte);
      if (position == kRate) {
        keccak_f1600(state);
        position = 0;
      }
    }
  }
  xor_byte(state, position, 0x06);
  xor_byte(state, kRate - 1, 0x80);
  keccak_f1600(state);
  for (size_t i = 0; i < 32; ++i) out[i] = static_cast<uint8_t>(state[i / 8] >> (8 * (i % 8)));
  secure_zero(state, sizeof state);
}

Shake::~Shake() { secure_zero(state_, sizeof state_); }

void Shake::absorb(std::span<const uint8_t> in) {
  for (const uint8_t byte : in) {
    xor_byte(state_, position_++, byte);
    if (position_ == rate_) {
      keccak_f1600(state_);
      position_ = 0;
    }
  }
}

void Shake::finish() {
  xor_byte(state_, position_, 0x1f);
  xor_byte(state_, rate_ - 1, 0x80);
  position_ = rate_;
  squeezing_ = true;
}

void Shake::squeeze(std::span<uint8_t> out) {
  if (!squeezing_) finish();
  for (uint8_t& byte : out) {
    if (position_ == rate_) {
      keccak_f1600(state_);
      position_ = 0;
    }
    byte = static_cast<uint8_t>(state_[position_ / 8] >> (8 * (position_ % 8)));
    ++position_;
  }
}

}  // namespace polykem
