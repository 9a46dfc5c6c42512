// SPDX-License-Identifier: Apache-2.0
// Converts between bits and coefficients: noise of the second part, code words, compression, demodulation. The compiler
// turns the loops into vector code. Secrets decide no branch and no address.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/isa.hpp"
#include "schemes/lac/modulus.hpp"

namespace polykem::lac {
inline namespace POLYKEM_ISA {

inline constexpr int kBitValue = 125;  ///< what a one adds to its coefficient

/// Writes bit i of `bytes` to out[i], i < 8 count.
inline void spread_bits(uint8_t* out, const uint8_t* bytes, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    for (unsigned k = 0; k < 8; ++k)
      out[8 * i + k] = static_cast<uint8_t>(bytes[i] >> k & 1);
  }
}

/// Samples e2 from the PRG's bytes. [LAC19]
inline void noise2(int8_t* out, const uint8_t* bytes, const Set& set) {
  const size_t count = set.c2_coefficients(), part = count / 8;
  uint8_t bits[4][kMaxNoise2 / 2];
  for (size_t first = 0; first < count; first += kMaxNoise2 / 2) {
    const size_t now = count - first < kMaxNoise2 / 2 ? count - first : kMaxNoise2 / 2;
    const size_t parts = set.noise2 == Noise2::kQuarter ? 2 : 4;
    for (size_t p = 0; p < parts; ++p)
      spread_bits(bits[p], bytes + p * part + first / 8, now / 8);
    for (size_t i = 0; i < now; ++i) {
      const int difference = bits[0][i] - bits[1][i];
      out[first + i] = static_cast<int8_t>(difference);
    }
    if (set.noise2 == Noise2::kQuarter) continue;
    for (size_t i = 0; i < now; ++i)
      out[first + i] = static_cast<int8_t>(out[first + i] * (bits[2][i] - bits[3][i]));
  }
}

/// Adds 125 times the code word's bits to the noise, once or, with D2, twice.
inline void add_code(int8_t* noise, const uint8_t* code, const Set& set) {
  uint8_t bits[kMaxNoise2 / 2];
  spread_bits(bits, code, set.code_bytes());
  for (size_t first = 0; first < set.c2_coefficients(); first += set.code_bits()) {
    for (size_t i = 0; i < set.code_bits(); ++i)
      noise[first + i] = static_cast<int8_t>(noise[first + i] + kBitValue * bits[i]);
  }
}

/// Compresses two coefficients to a byte of four rounded bits each. One that rounds up to 16 acts on its neighbour or
/// vanishes, as the format has it: x0 + 8 >= 256 inverts the upper half's lowest bit, x1 + 8 >= 256 gives zero.
inline void compress(uint8_t* out, const uint8_t* x, size_t count) {
  for (size_t i = 0; i < count / 2; ++i) {
    const unsigned low = (x[2 * i] + 8u) >> 4, high = (x[2 * i + 1] + 8u) & 0xf0;
    out[i] = static_cast<uint8_t>(low ^ high);
  }
}

inline void decompress(uint8_t* out, const uint8_t* bytes, size_t count) {
  for (size_t i = 0; i < count / 2; ++i) {
    out[2 * i] = static_cast<uint8_t>(bytes[i] << 4);
    out[2 * i + 1] = static_cast<uint8_t>(bytes[i] & 0xf0);
  }
}

/// Reads the secret polynomial of a key. Only the two low bits of a byte are read: 0, 1, 2, 3 mean 0, 1, 0, -1. No key
/// has a 2, but with it any bytes are a polynomial.
inline void load_secret(int8_t* out, const uint8_t* bytes, size_t n) {
  for (size_t i = 0; i < n; ++i)
    out[i] = static_cast<int8_t>((bytes[i] & 1) - (bytes[i] & (bytes[i] >> 1) & 1) * 2);
}

/// Finds the code word in c2 - c1 s: a coefficient near 125 is a one. With D2 the distances from 125 of both
/// coefficients of a bit are added. [LAC19]
inline void received_word(uint8_t* code, const uint8_t* c2, const uint8_t* product, const Set& set) {
  constexpr int q = kQ;
  uint8_t bits[kMaxNoise2 / 2];
  const size_t count = set.code_bits();
  const auto difference = [&](size_t i) {
    const int v = c2[i] - product[i];
    return v + (v >> 31 & q);
  };
  for (size_t i = 0; i < count; ++i) {
    if (set.d2) {
      const auto reflected = [](int v) { return v + ((v - 125) >> 31 & (250 - 2 * v)); };
      const int sum = reflected(difference(i)) + reflected(difference(i + count)) - q;
      bits[i] = static_cast<uint8_t>(static_cast<unsigned>(sum - 125) >> 31);
    } else {
      const int v = difference(i);
      bits[i] = static_cast<uint8_t>((static_cast<unsigned>(v - 188) & ~static_cast<unsigned>(v - 62)) >> 31);
    }
  }
  for (size_t i = 0; i < count / 8; ++i) {
    unsigned byte = 0;
    for (unsigned k = 0; k < 8; ++k)
      byte |= static_cast<unsigned>(bits[8 * i + k]) << k;
    code[i] = static_cast<uint8_t>(byte);
  }
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::lac
