// SPDX-License-Identifier: Apache-2.0
// The curves y^2 = x^3 - 3 x + b over the integers modulo p [SP800-186, 3.2.1], and the encodings of their scalars and
// coordinates, which are kBytes bytes, the most significant first.
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

/// The constants of P-256: the field's modulus p, the order n of the group, which is prime, the curve's b and the base
/// point.
struct P256 {
  static constexpr size_t kWords = 4, kBytes = 8 * kWords;
  static constexpr auto kP = from_hex<kWords>("ffffffff00000001000000000000000000000000ffffffffffffffffffffffff");
  static constexpr auto kN = from_hex<kWords>("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551");
  static constexpr auto kB = from_hex<kWords>("5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604b");
  static constexpr auto kBaseX = from_hex<kWords>("6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296");
  static constexpr auto kBaseY = from_hex<kWords>("4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5");
};

/// The constants of P-384, under the names of those of P-256.
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

/// Sets `difference` to a - b modulo 2^(64 kWords) and returns the borrow, 0 or 1. `difference` may be a or b.
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

/// Returns 2^bits modulo p.
template <class C>
constexpr Words<C::kWords> power_of_two(size_t bits) {
  Words<C::kWords> power{{1}};
  while (bits-- > 0) {
    uint64_t carry = 0;
    for (uint64_t& word : power.word) {
      const uint64_t top = word >> 63;
      word = word << 1 | carry;
      carry = top;
    }
    Words<C::kWords> less_p{};
    const uint64_t borrow = subtract(less_p, power, C::kP);
    if (carry >= borrow) power = less_p;
  }
  return power;
}

/// True if a < b. Takes the same time for all numbers.
template <size_t kWords>
bool less(const Words<kWords>& a, const Words<kWords>& b) {
  Words<kWords> difference;
  return subtract(difference, a, b) != 0;
}

/// Sets `scalar` to the number at `bytes`. Returns true if it is in [1, n - 1]; this is public.
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

// Points are multiplied by odd scalars: by k itself or by n - k, whose multiple of a point has the other sign. In
// windows of w bits, an odd number below 2^(w m) is the sum of d[i] 2^(w i), i < m, with d[i] = 2 e[i] - (2^w - 1),
// where e[i] are the windows of (k - 1) / 2 with the highest bit set [JT09]. All d[i] are odd, so each takes one
// addition, and no sum is 0.
//
// The usual addition can compute neither s + s nor s - s. For an arbitrary point, digits of four bits are added from
// the top: s = 16 s' with s' odd and 0 < s' < n / 16^(i + 1) + 1, so that s > |d|, and s + |d| < n before the last
// digit. For the base point, digits of five bits are added from the bottom: |s| < 32^i <= |d| for the digit d with its
// power, and |s| + |d| < n before the last digit. With the last digit, s + d = k is not 0, but s = d can occur, and
// add_last() then doubles. It occurs for any point with k = n - 2 on P-256 and n - 6 on P-384, and for the base point
// with k = 2^256 - n and 15 * 2^381 - n.

/// Sets `half` to (k - 1) / 2, where k is the odd one of scalar and n - scalar. Returns all ones if k is n - scalar,
/// else 0.
template <class C>
uint64_t halve_odd_representative(Words<C::kWords>& half, const Words<C::kWords>& scalar) {
  Words<C::kWords> odd, complement;
  subtract(complement, C::kN, scalar);
  const uint64_t keep = ct::barrier(0 - (scalar.word[0] & 1));
  for (size_t i = 0; i < C::kWords; ++i)
    odd.word[i] = (scalar.word[i] & keep) | (complement.word[i] & ~keep);
  for (size_t i = 0; i < C::kWords; ++i)
    half.word[i] = odd.word[i] >> 1 | (i + 1 < C::kWords ? odd.word[i + 1] << 63 : 0);
  return ~keep;
}

// invert() returns 1 / x = x^(p - 2), and 0 for 0. The exponent of eN consists of N ones; the comments name the bits of
// p - 2 from the top. append(power, bits, ones) appends `bits` bits to the exponent of `power`, the last of which are
// the exponent of `ones`.

template <class Element>
Element invert(P256, const Element& e1) {
  const Element e2 = append(e1, 1, e1), e4 = append(e2, 2, e2), e8 = append(e4, 4, e4), e16 = append(e8, 8, e8);
  const Element e32 = append(e16, 16, e16);
  Element x = append(e32, 32, e1);  // e32 and 0...01
  x = append(x, 128, e32);          // 96 zeros and e32
  x = append(x, 32, e32);           // e32
  x = append(x, 16, e16);           // e30 and 01
  x = append(x, 8, e8);
  x = append(x, 4, e4);
  x = append(x, 2, e2);
  return append(x, 2, e1);
}

template <class Element>
Element invert(P384, const Element& e1) {
  const Element e2 = append(e1, 1, e1), e3 = append(e2, 1, e1);
  Element x = append(e3, 3, e3);
  x = append(x, 6, x);
  const Element e15 = append(x, 3, e3), e30 = append(e15, 15, e15);
  x = append(e30, 30, e30);
  x = append(x, 60, x);
  x = append(x, 120, x);
  x = append(x, 15, e15);                 // e255
  x = append(x, 33, append(e30, 2, e2));  // 0 and e32
  x = append(x, 94, e30);                 // 64 zeros and e30
  return append(x, 2, e1);                // 01
}

/// Loads the coordinates of an uncompressed point. Returns false if they are not reduced or the first byte is wrong;
/// does not check that the point is on the curve.
template <class C>
bool load_point(Words<C::kWords>& x, Words<C::kWords>& y, const uint8_t* bytes) {
  x = from_bytes<C::kWords>(bytes + 1);
  y = from_bytes<C::kWords>(bytes + 1 + C::kBytes);
  return bytes[0] == 4 && less(x, C::kP) && less(y, C::kP);
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::ecdh
