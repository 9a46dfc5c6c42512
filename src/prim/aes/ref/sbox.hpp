// SPDX-License-Identifier: Apache-2.0
// The S-box as a circuit: inversion in a tower of fields over GF(2), between two changes of basis that the compiler
// derives. [FIPS197, 5.1.1]
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace polykem::aes {

/// Elements hi w + lo of GF(4) = GF(2)[w] / (w^2 + w + 1), as many as W has bits.
template <class W>
struct Gf4 {
  W lo, hi;
  friend constexpr Gf4 operator+(Gf4 a, Gf4 b) { return {a.lo ^ b.lo, a.hi ^ b.hi}; }
  friend constexpr Gf4 operator*(Gf4 a, Gf4 b) {
    const W low = a.lo & b.lo;
    return {low ^ (a.hi & b.hi), low ^ ((a.lo ^ a.hi) & (b.lo ^ b.hi))};
  }
  constexpr Gf4 squared() const { return {lo ^ hi, hi}; }
  constexpr Gf4 inverse() const { return squared(); }
  constexpr Gf4 times_constant() const { return {hi, lo ^ hi}; }  ///< multiplies by w, which has trace 1
};

/// Elements hi x + lo of Base[x] / (x^2 + x + m). m, the constant of Base, has trace 1, so that the polynomial is
/// irreducible.
template <class Base>
struct Quadratic {
  Base lo, hi;
  friend constexpr Quadratic operator+(Quadratic a, Quadratic b) { return {a.lo + b.lo, a.hi + b.hi}; }
  friend constexpr Quadratic operator*(Quadratic a, Quadratic b) {
    const Base low = a.lo * b.lo;
    return {low + (a.hi * b.hi).times_constant(), low + (a.lo + a.hi) * (b.lo + b.hi)};
  }
  constexpr Quadratic squared() const {
    const Base high = hi.squared();
    return {lo.squared() + high.times_constant(), high};
  }
  /// Inverts the norm in the base field and multiplies it by the conjugate, hi x + (hi + lo).
  constexpr Quadratic inverse() const {
    const Base scale = (hi.squared().times_constant() + (hi + lo) * lo).inverse();
    return {(hi + lo) * scale, hi * scale};
  }
  /// Multiplies by m x, whose trace down to GF(2) is that of m.
  constexpr Quadratic times_constant() const {
    const Base low = lo.times_constant(), high = hi.times_constant();
    return {high.times_constant(), low + high};
  }
};

template <class W>
using Gf16 = Quadratic<Gf4<W>>;
template <class W>
using Gf256 = Quadratic<Gf16<W>>;

template <class W>
using Bits = std::array<W, 8>;  ///< element i holds bit i of all bytes, i = 0 the lowest

template <class W>
constexpr Gf256<W> to_field(const Bits<W>& b) {
  return {{{b[0], b[1]}, {b[2], b[3]}}, {{b[4], b[5]}, {b[6], b[7]}}};
}
template <class W>
constexpr Bits<W> from_field(const Gf256<W>& x) {
  return {x.lo.lo.lo, x.lo.lo.hi, x.lo.hi.lo, x.lo.hi.hi, x.hi.lo.lo, x.hi.lo.hi, x.hi.hi.lo, x.hi.hi.hi};
}

/// A linear map of bytes, given by the images of the bits.
using Linear = std::array<uint8_t, 8>;

consteval uint8_t tower_product(uint8_t a, uint8_t b) {
  Bits<unsigned> x{}, y{};
  for (unsigned i = 0; i < 8; ++i) {
    x[i] = (a >> i) & 1u;
    y[i] = (b >> i) & 1u;
  }
  const Bits<unsigned> z = from_field(to_field(x) * to_field(y));
  uint8_t product = 0;
  for (unsigned i = 0; i < 8; ++i)
    product = static_cast<uint8_t>(product | (z[i] << i));
  return product;
}

/// Returns the map into the tower: its elements 1, r, .., r^7 for a root r of x^8 + x^4 + x^3 + x + 1, the polynomial
/// of AES. [FIPS197, 4.2]
consteval Linear into_tower() {
  for (unsigned root = 2; root < 256; ++root) {
    std::array<uint8_t, 9> power{1};
    for (size_t i = 1; i < 9; ++i)
      power[i] = tower_product(power[i - 1], static_cast<uint8_t>(root));
    if ((power[8] ^ power[4] ^ power[3] ^ power[1] ^ power[0]) == 0) {
      Linear map{};
      for (size_t i = 0; i < 8; ++i)
        map[i] = power[i];
      return map;
    }
  }
  return {};
}

consteval uint8_t image(const Linear& map, uint8_t x) {
  uint8_t y = 0;
  for (unsigned i = 0; i < 8; ++i)
    y = static_cast<uint8_t>(y ^ ((x >> i) & 1u ? map[i] : 0));
  return y;
}

/// Returns the map out of the tower, followed by the linear part of the S-box: b ^ (b rotated left by 1, 2, 3, 4).
/// [FIPS197, 5.1.1]
consteval Linear out_of_tower() {
  const Linear into = into_tower();
  Linear map{};
  for (unsigned x = 1; x < 256; ++x) {
    const uint8_t y = image(into, static_cast<uint8_t>(x));
    if ((y & (y - 1)) != 0) continue;
    unsigned bit = 0, sum = 0;
    while ((y >> bit) != 1)
      ++bit;
    for (unsigned turn = 0; turn < 5; ++turn)
      sum ^= (x << turn) | (x >> (8 - turn));
    map[bit] = static_cast<uint8_t>(sum);
  }
  return map;
}

inline constexpr Linear kIntoTower = into_tower();
inline constexpr Linear kOutOfTower = out_of_tower();

template <const Linear& kMap, size_t kFrom, size_t kBit>
inline constexpr bool kTaken = (kMap[kFrom] >> kBit & 1) != 0;

/// Returns bit kBit of the image of x under kMap.
template <const Linear& kMap, size_t kBit, class W, size_t... kFrom>
constexpr W image_bit(const Bits<W>& x, std::index_sequence<kFrom...>) {
  W sum{};
  ((sum = kTaken<kMap, kFrom, kBit> ? sum ^ x[kFrom] : sum), ...);
  return sum;
}
template <const Linear& kMap, class W, size_t... kBit>
constexpr Bits<W> mapped(const Bits<W>& x, std::index_sequence<kBit...> bits) {
  return {image_bit<kMap, kBit>(x, bits)...};
}

/// Applies the S-box without its constant, 0x63, to every byte. [FIPS197, 5.1.1]
template <class W>
constexpr Bits<W> sub_bytes_linear(const Bits<W>& x) {
  constexpr auto kBits = std::make_index_sequence<8>();
  return mapped<kOutOfTower>(from_field(to_field(mapped<kIntoTower>(x, kBits)).inverse()), kBits);
}
inline constexpr uint8_t kSubBytesConstant = 0x63;

}  // namespace polykem::aes
