// SPDX-License-Identifier: Apache-2.0
// The curves y^2 = x^3 - 3 x + b over the integers modulo p [SP800-186, 3.2.1], and the encodings of their scalars and
// coordinates: kBytes bytes, the most significant first.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/isa.hpp"
#include "ct/ct.hpp"

namespace polykem::ecdh {
inline namespace POLYKEM_ISA {

__extension__ using Wide = unsigned __int128;

/// A number, the least significant word first.
template <size_t kWords>
struct Words {
  uint64_t word[kWords];
};

template <size_t kWords>
constexpr Words<kWords> from_hex(const char (&digits)[16 * kWords + 1]) {
  Words<kWords> out{};
  for (size_t i = 0; i < 16 * kWords; ++i) {
    const char digit = digits[16 * kWords - 1 - i];
    const auto value = static_cast<uint64_t>(digit <= '9' ? digit - '0' : digit - 'a' + 10);
    out.word[i / 16] |= value << (4 * (i % 16));
  }
  return out;
}

/// The field's modulus p, the order n of the group, which is prime, the curve's b and the base point.
struct P256 {
  static constexpr size_t kWords = 4, kBytes = 8 * kWords;
  static constexpr auto kP = from_hex<kWords>("ffffffff00000001000000000000000000000000ffffffffffffffffffffffff");
  static constexpr auto kN = from_hex<kWords>("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551");
  static constexpr auto kB = from_hex<kWords>("5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604b");
  static constexpr auto kBaseX = from_hex<kWords>("6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296");
  static constexpr auto kBaseY = from_hex<kWords>("4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5");
};

struct P384 {
  static constexpr size_t kWords = 6, kBytes = 8 * kWords;
  static constexpr auto kP = from_hex<kWords>(
      "fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffeffffffff0000000000000000ffffffff");
  static constexpr auto kN = from_hex<kWords>(
      "ffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973");
  static constexpr auto kB = from_hex<kWords>(
      "b3312fa7e23ee7e4988e056be3f82d19181d9c6efe8141120314088f5013875ac656398d8a2ed19d2a85c8edd3ec2aef");
  static constexpr auto kBaseX = from_hex<kWords>(
      "aa87ca22be8b05378eb1c71ef320ad746e1d3b628ba79b9859f741e082542a385502f25dbf55296c3a545e3872760ab7");
  static constexpr auto kBaseY = from_hex<kWords>(
      "3617de4a96262c6f5d9e98bf9292dc29f8f41dbd289a147ce9da3113b5f0b8c00a60b1ce1d7e819d7a431d7c90ea0e5f");
};

template <size_t kWords>
constexpr Words<kWords> from_bytes(const uint8_t* bytes) {
  Words<kWords> out{};
  for (size_t i = 0; i < 8 * kWords; ++i)
    out.word[kWords - 1 - i / 8] = out.word[kWords - 1 - i / 8] << 8 | bytes[i];
  return out;
}

template <size_t kWords>
void to_bytes(uint8_t* bytes, const Words<kWords>& number) {
  for (size_t i = 0; i < 8 * kWords; ++i)
    bytes[i] = static_cast<uint8_t>(number.word[kWords - 1 - i / 8] >> (56 - 8 * (i % 8)));
}

/// difference = a - b modulo 2^(64 kWords); returns the borrow, 0 or 1. difference may be a or b.
template <size_t kWords>
constexpr uint64_t subtract(Words<kWords>& difference, const Words<kWords>& a, const Words<kWords>& b) {
  uint64_t borrow = 0;
  for (size_t i = 0; i < kWords; ++i) {
    const Wide step = Wide{a.word[i]} - b.word[i] - borrow;
    difference.word[i] = static_cast<uint64_t>(step);
    borrow = static_cast<uint64_t>(step >> 64) & 1;
  }
  return borrow;
}

/// Whether a < b. Takes the same time for all numbers.
template <size_t kWords>
bool less(const Words<kWords>& a, const Words<kWords>& b) {
  Words<kWords> difference;
  return subtract(difference, a, b) != 0;
}

/// scalar = the number at `bytes`. Returns whether it is in [1, n - 1], which is public.
template <class C>
bool load_scalar(Words<C::kWords>& scalar, const uint8_t* bytes) {
  scalar = from_bytes<C::kWords>(bytes);
  uint64_t bits = 0;
  for (const uint64_t word : scalar.word)
    bits |= word;
  const uint64_t zero = ct::barrier(((bits | (0 - bits)) >> 63) ^ 1);
  bool valid = (zero | (less(scalar, C::kN) ? 0u : 1u)) == 0;
  ct::declassify(&valid, sizeof valid);
  return valid;
}

/// The coordinates of an uncompressed point. Returns false if they are not reduced or the first byte is wrong; does not
/// check that the point is on the curve.
template <class C>
bool load_point(Words<C::kWords>& x, Words<C::kWords>& y, const uint8_t* bytes) {
  x = from_bytes<C::kWords>(bytes + 1);
  y = from_bytes<C::kWords>(bytes + 1 + C::kBytes);
  return bytes[0] == 4 && less(x, C::kP) && less(y, C::kP);
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::ecdh
