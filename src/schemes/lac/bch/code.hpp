// SPDX-License-Identifier: Apache-2.0
// Tables of LAC's BCH codes, derived by the compiler from the field's polynomial.
//
// Bits of messages, parities and code words are counted as memory has them: bit i is bit i mod 8 of byte i / 8. The
// polynomial has the bits of each byte the other way round: the first byte's bit 7 is the highest coefficient.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace polykem::bch {

inline constexpr size_t kFieldBits = 9;
inline constexpr size_t kOrder = (size_t{1} << kFieldBits) - 1;
inline constexpr unsigned kFieldPolynomial = 0x211;  ///< x^9 + x^4 + 1
inline constexpr size_t kMessageBits = 256;

/// alpha^0 .. alpha^(kOrder - 1) for alpha = x.
inline constexpr auto kPowers = [] {
  std::array<uint16_t, kOrder> powers{1};
  for (size_t i = 1; i < kOrder; ++i) {
    const unsigned doubled = 2u * powers[i - 1];
    powers[i] = static_cast<uint16_t>(doubled >> kFieldBits != 0 ? doubled ^ kFieldPolynomial : doubled);
  }
  return powers;
}();

consteval uint16_t product(uint16_t a, uint16_t b) {
  unsigned c = 0;
  for (size_t i = kFieldBits; i-- > 0;) {
    c <<= 1;
    if (c >> kFieldBits != 0) c ^= kFieldPolynomial;
    if (b >> i & 1) c ^= a;
  }
  return static_cast<uint16_t>(c);
}

/// The product of (x - alpha^i) for the i in the cyclotomic cosets of 1, 3, .., 2t - 1: lowest coefficient first.
template <size_t kErrors>
struct Generator {
  std::array<uint16_t, kFieldBits * kErrors + 1> coefficient{1};
  size_t degree = 0;

  consteval Generator() {
    std::array<bool, kOrder> used{};
    for (size_t odd = 1; odd < 2 * kErrors; odd += 2) {
      for (size_t root = odd; !used[root]; root = 2 * root % kOrder) {
        used[root] = true;
        ++degree;
        for (size_t i = degree + 1; i-- > 0;) {
          const uint16_t below = i > 0 ? coefficient[i - 1] : uint16_t{0};
          coefficient[i] = static_cast<uint16_t>(below ^ product(coefficient[i], kPowers[root]));
        }
      }
    }
  }
};

template <size_t kErrors>
struct Code {
  static constexpr Generator<kErrors> kGenerator{};
  static constexpr size_t kParityBits = kGenerator.degree;
  static constexpr size_t kParityBytes = kParityBits / 8;
  static constexpr size_t kBits = kMessageBits + kParityBits;
  static constexpr size_t kRowWords = 4, kRowSyndromes = 16;

  /// Returns the power of x that code bit i belongs to.
  static constexpr size_t exponent(size_t i) { return kBits - 1 - (i - i % 8 + 7 - i % 8); }

  /// Row i is the parity of a message whose only one is bit i.
  static constexpr auto kParityRows = [] {
    std::array<std::array<uint64_t, kRowWords>, kMessageBits> rows{};
    // C arrays: each operator[] of std::array is a call, and clang limits the steps of a constant expression
    bool rest[kParityBits] = {};  // x^e mod g
    rest[0] = true;
    size_t bit_of[kBits] = {};
    for (size_t i = 0; i < kBits; ++i)
      bit_of[exponent(i)] = i;
    for (size_t e = 1; e < kBits; ++e) {
      const bool carry = rest[kParityBits - 1];
      for (size_t i = kParityBits - 1; i > 0; --i)
        rest[i] = rest[i - 1] != (carry && kGenerator.coefficient[i] != 0);
      rest[0] = carry;
      if (e < kParityBits) continue;
      for (size_t i = 0; i < kParityBits; ++i) {
        const size_t bit = bit_of[i] - kMessageBits;
        if (rest[i]) rows[bit_of[e]][bit / 64] |= uint64_t{1} << (bit % 64);
      }
    }
    return rows;
  }();

  /// Entry j of row i is alpha^((2 j + 1) e) for the exponent e of code bit i.
  static constexpr auto kSyndromeRows = [] {
    std::array<std::array<uint16_t, kRowSyndromes>, kBits> rows{};
    for (size_t i = 0; i < kBits; ++i) {
      for (size_t j = 0; j < kErrors; ++j)
        rows[i][j] = kPowers[(2 * j + 1) * exponent(i) % kOrder];
    }
    return rows;
  }();

  /// Plane b has bit b of alpha^e for the exponents e of the message's bits.
  static constexpr auto kPositions = [] {
    std::array<std::array<uint64_t, kMessageBits / 64>, kFieldBits> planes{};
    for (size_t i = 0; i < kMessageBits; ++i) {
      for (size_t b = 0; b < kFieldBits; ++b)
        planes[b][i / 64] |= uint64_t{kPowers[exponent(i)] >> b & 1u} << (i % 64);
    }
    return planes;
  }();
};

/// Returns `count` bits of the generator from x^first on. The values below are those of LAC's own tables.
template <size_t kErrors>
consteval uint64_t generator_bits(size_t first, size_t count) {
  uint64_t bits = 0;
  for (size_t i = 0; i < count; ++i)
    bits |= uint64_t{Code<kErrors>::kGenerator.coefficient[first + i]} << i;
  return bits;
}
static_assert(Code<8>::kParityBits == 72 && Code<16>::kParityBits == 144);
static_assert(generator_bits<8>(0, 64) == 0xba069b8b1ffe26e5 && generator_bits<8>(64, 9) == 0x1b8);
static_assert(generator_bits<16>(0, 64) == 0x296e58c8ed2701ad && generator_bits<16>(64, 64) == 0xd0545db34c1e01d5);
static_assert(generator_bits<16>(128, 17) == 0x12b6b);

}  // namespace polykem::bch
