// SPDX-License-Identifier: Apache-2.0
// Polynomials to and from bytes, with and without compression. No division: a secret coefficient must not reach an
// instruction whose time depends on it.
#pragma once

#include "prim/ntt/ntt.hpp"
#include "schemes/mlkem/types.hpp"

namespace polykem::mlkem::ref {
inline namespace POLYKEM_ISA {

/// round(x 2^kBits / q) mod 2^kBits for x in [0, q). [FIPS203, 4.2.1, Compress]
/// The quotient by a reciprocal is right or one too small, which its remainder tells.
template <unsigned kBits>
constexpr uint16_t compress(uint32_t x) {
  constexpr uint32_t kReciprocal = (1u << (16 + kBits)) / kQ;
  const uint32_t quotient = x * kReciprocal >> 16;
  const uint32_t remainder = (x << kBits) + kQ / 2 - quotient * kQ;  // in [0, 2q)
  return static_cast<uint16_t>((quotient + 1 - ((remainder - kQ) >> 31)) & ((1u << kBits) - 1));
}

/// round(q y / 2^kBits). [FIPS203, 4.2.1, Decompress]
template <unsigned kBits>
constexpr uint16_t decompress(uint32_t y) {
  return static_cast<uint16_t>((y * kQ + (1u << (kBits - 1))) >> kBits);
}

/// 32 kBits bytes of 256 values below 2^kBits, least significant bit first. [FIPS203, Alg 5]
template <unsigned kBits, class Value>
void encode(uint8_t* out, Value&& value) {
  for (size_t i = 0; i < kN; i += 8) {
    uint64_t buffer = 0;
    unsigned bits = 0;
#pragma GCC unroll 8
    for (size_t j = 0; j < 8; ++j) {
      buffer |= uint64_t{value(i + j)} << bits;
      for (bits += kBits; bits >= 8; bits -= 8) {
        *out++ = static_cast<uint8_t>(buffer);
        buffer >>= 8;
      }
    }
  }
}

/// The inverse: calls use(i, value) for all i. [FIPS203, Alg 6]
template <unsigned kBits, class Use>
void decode(const uint8_t* in, Use&& use) {
  for (size_t i = 0; i < kN; i += 8) {
    uint64_t buffer = 0;
    unsigned bits = 0;
#pragma GCC unroll 8
    for (size_t j = 0; j < 8; ++j) {
      for (; bits < kBits; bits += 8)
        buffer |= uint64_t{*in++} << bits;
      use(i + j, static_cast<uint32_t>(buffer & ((1u << kBits) - 1)));
      buffer >>= kBits;
      bits -= kBits;
    }
  }
}

/// Twelve bits a coefficient.
inline void poly_tobytes(uint8_t* out, const Poly& a) {
  encode<12>(out, [&](size_t i) { return a.c[i]; });
}

/// All coefficients are below q if the result is 0.
inline uint32_t poly_frombytes(Poly& a, const uint8_t* in) {
  uint32_t too_large = 0;
  decode<12>(in, [&](size_t i, uint32_t x) {
    a.c[i] = static_cast<uint16_t>(x);
    too_large |= (kQ - 1 - x) >> 31;
  });
  return too_large;
}

template <unsigned kBits>
void poly_compress(uint8_t* out, const Poly& a) {
  encode<kBits>(out, [&](size_t i) { return compress<kBits>(a.c[i]); });
}

template <unsigned kBits>
void poly_decompress(Poly& a, const uint8_t* in) {
  decode<kBits>(in, [&](size_t i, uint32_t y) { a.c[i] = decompress<kBits>(y); });
}

/// a + b mod q, in place.
inline void poly_add(Poly& a, const Poly& b) {
  for (size_t i = 0; i < kN; ++i)
    a.c[i] = static_cast<uint16_t>(ntt::reduce_once(uint32_t{a.c[i]} + b.c[i]));
}

/// a - b mod q.
inline void poly_sub(Poly& out, const Poly& a, const Poly& b) {
  for (size_t i = 0; i < kN; ++i)
    out.c[i] = static_cast<uint16_t>(ntt::reduce_once(uint32_t{a.c[i]} + kQ - b.c[i]));
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::mlkem::ref
