// SPDX-License-Identifier: Apache-2.0
// Converts polynomials to and from bytes, with and without compression. It divides nowhere, because a secret
// coefficient must not reach an instruction whose time depends on it.
#pragma once

#include "core/secure.hpp"
#include "prim/ntt/ntt.hpp"
#include "schemes/mlkem/types.hpp"

namespace polykem::mlkem::ref {
inline namespace POLYKEM_ISA {

/// Returns round(x 2^kBits / q) mod 2^kBits for x in [0, q). [FIPS203, 4.2.1, Compress]
/// The quotient by a reciprocal is right or one too small; its remainder tells which.
template <unsigned kBits>
constexpr uint16_t compress(uint32_t x) {
  constexpr uint32_t kReciprocal = (1u << (16 + kBits)) / kQ;
  const uint32_t quotient = x * kReciprocal >> 16;
  const uint32_t remainder = (x << kBits) + kQ / 2 - quotient * kQ;  // in [0, 2q)
  return static_cast<uint16_t>((quotient + 1 - ((remainder - kQ) >> 31)) & ((1u << kBits) - 1));
}

/// Returns round(q y / 2^kBits). [FIPS203, 4.2.1, Decompress]
template <unsigned kBits>
constexpr uint16_t decompress(uint32_t y) {
  return static_cast<uint16_t>((y * kQ + (1u << (kBits - 1))) >> kBits);
}

/// Stores and loads eight values of kBits bits, given as two halves of 4 kBits bits. They take kBits bytes, which pass
/// through one or two words.
template <unsigned kBits>
struct Octet {
  static constexpr unsigned kHalf = 4 * kBits;
  static constexpr size_t kFirstBytes = kBits < 8 ? kBits : 8;

  static void store(uint8_t* out, uint64_t low, uint64_t high) {
    const uint64_t first = low | high << kHalf;
    for (size_t i = 0; i < kFirstBytes; ++i)
      out[i] = static_cast<uint8_t>(first >> (8 * i));
    for (size_t i = 8; i < kBits; ++i)
      out[i] = static_cast<uint8_t>(high >> (64 - kHalf) >> (8 * (i - 8)));
  }

  static void load(uint64_t& low, uint64_t& high, const uint8_t* in) {
    uint64_t first = 0, second = 0;
    for (size_t i = 0; i < kFirstBytes; ++i)
      first |= uint64_t{in[i]} << (8 * i);
    for (size_t i = 8; i < kBits; ++i)
      second |= uint64_t{in[i]} << (8 * (i - 8));
    low = first;
    high = first >> kHalf;
    if constexpr (kBits > 8) high |= second << (64 - kHalf);
  }
};

/// Encodes value(i) < 2^kBits for i < 256 in 32 kBits bytes, least significant bit first. [FIPS203, Alg 5]
template <unsigned kBits, class Value>
void byte_encode(uint8_t* out, Value&& value) {
  for (size_t i = 0; i < kN; i += 8, out += kBits) {
    uint64_t low = 0, high = 0;
    for (unsigned j = 0; j < 4; ++j) {
      low |= uint64_t{value(i + j)} << (j * kBits);
      high |= uint64_t{value(i + 4 + j)} << (j * kBits);
    }
    Octet<kBits>::store(out, low, high);
  }
}

/// Decodes 256 values from 32 kBits bytes and calls use(i, value) for each. [FIPS203, Alg 6]
template <unsigned kBits, class Use>
void byte_decode(const uint8_t* in, Use&& use) {
  constexpr uint64_t kMask = (1u << kBits) - 1;
  for (size_t i = 0; i < kN; i += 8, in += kBits) {
    uint64_t low, high;
    Octet<kBits>::load(low, high, in);
    for (unsigned j = 0; j < 4; ++j) {
      use(i + j, static_cast<uint32_t>(low >> (j * kBits) & kMask));
      use(i + 4 + j, static_cast<uint32_t>(high >> (j * kBits) & kMask));
    }
  }
}

/// Encodes a polynomial with 12 bits per coefficient.
inline void poly_byte_encode(uint8_t* out, const Poly& a) {
  byte_encode<12>(out, [&](size_t i) { return a.c[i]; });
}

/// Decodes a polynomial from 12 bits per coefficient. Returns 0 if all coefficients are below q.
inline uint32_t poly_byte_decode(Poly& a, const uint8_t* in) {
  byte_decode<12>(in, [&](size_t i, uint32_t x) { a.c[i] = static_cast<uint16_t>(x); });
  uint32_t too_large = 0;
  for (const uint16_t c : a.c)
    too_large |= (kQ - 1 - c) >> 31;
  return too_large;
}

template <unsigned kBits>
void poly_compress(uint8_t* out, const Poly& a) {
  Poly compressed;  // a loop of its own, so that compilers vectorise it
  for (size_t i = 0; i < kN; ++i)
    compressed.c[i] = compress<kBits>(a.c[i]);
  byte_encode<kBits>(out, [&](size_t i) { return compressed.c[i]; });
  zeroize(&compressed, sizeof compressed);
}

template <unsigned kBits>
void poly_decompress(Poly& a, const uint8_t* in) {
  byte_decode<kBits>(in, [&](size_t i, uint32_t y) { a.c[i] = static_cast<uint16_t>(y); });
  for (uint16_t& c : a.c)
    c = decompress<kBits>(c);
}

/// Adds b to a, mod q.
inline void poly_add(Poly& a, const Poly& b) {
  for (size_t i = 0; i < kN; ++i)
    a.c[i] = static_cast<uint16_t>(ntt::reduce_once(uint32_t{a.c[i]} + b.c[i]));
}

/// Computes out = a - b mod q.
inline void poly_sub(Poly& out, const Poly& a, const Poly& b) {
  for (size_t i = 0; i < kN; ++i)
    out.c[i] = static_cast<uint16_t>(ntt::reduce_once(uint32_t{a.c[i]} + kQ - b.c[i]));
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::mlkem::ref
