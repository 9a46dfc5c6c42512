// SPDX-License-Identifier: Apache-2.0
// Encoding and decoding with vectors of the compiler, for every instruction set. Syndromes and the locator polynomial
// have a coefficient per lane, the search for its roots has a message bit per bit of a register. [WR19]
#pragma once

#include <cstring>

#include "core/isa.hpp"
#include "schemes/lac/bch/bch.hpp"
#include "schemes/lac/bch/code.hpp"

#define POLYKEM_BCH_INLINE inline __attribute__((always_inline))

namespace polykem::bch {
inline namespace POLYKEM_ISA {

/// Coefficients 0 to 31 of a polynomial, in GF(2^9).
using Coefficients = uint16_t __attribute__((vector_size(64)));
inline constexpr size_t kLanes = 32;
/// S_1, S_3, .., zero from lane t on; or a parity.
using Row = uint16_t __attribute__((vector_size(32)));
/// A bit for each bit of the message.
using Plane = uint64_t __attribute__((vector_size(32)));
using Planes = Plane[kFieldBits];

/// Computes the sum of those rows i whose bit i is one, i < 8 bytes. rows: 32 bytes each.
POLYKEM_BCH_INLINE void sum_rows(Row& sum, const void* rows, const uint8_t* bits, size_t bytes) {
  using Signed = int16_t __attribute__((vector_size(32)));
  const auto* from = static_cast<const uint8_t*>(rows);
  sum = Row{};
  for (size_t b = 0; b < bytes; ++b) {
    Row next = Row{} + static_cast<uint16_t>(bits[b] << 8);  // the sign is the next bit, from the highest on
    for (size_t k = 8; k-- > 0; next += next) {
      Row row;
      std::memcpy(&row, from + (8 * b + k) * sizeof row, sizeof row);
      sum ^= row & reinterpret_cast<Row>(reinterpret_cast<Signed>(next) >> 15);
    }
  }
}

/// Computes c = a b lane by lane.
POLYKEM_BCH_INLINE void multiply(Coefficients& c, const Coefficients& a, const Coefficients& b) {
  Coefficients sum{};
  for (int k = kFieldBits - 1; k >= 0; --k) {
    sum += sum;
    sum ^= -(sum >> kFieldBits) & kFieldPolynomial;
    sum ^= a & -(b >> k & 1);
  }
  c = sum;
}

POLYKEM_BCH_INLINE void load(Coefficients& c, const uint16_t* from) {
  std::memcpy(&c, from, sizeof c);
}
POLYKEM_BCH_INLINE void broadcast(Coefficients& c, uint16_t x) {
  c = Coefficients{} + x;
}

/// S_1 .. S_(2t-1) in reverse order: s[kReversed - i] = S_i; the rest is zero.
inline constexpr size_t kReversed = 2 * kLanes;
struct Syndromes {
  alignas(64) uint16_t s[3 * kLanes];
};

template <size_t kErrors>
POLYKEM_BCH_INLINE void compute_syndromes(Syndromes& out, const uint8_t* code) {
  Row sum;
  sum_rows(sum, Code<kErrors>::kSyndromeRows.data(), code, Code<kErrors>::kBits / 8);
  std::memset(&out, 0, sizeof out);
  Coefficients powers{};  // lane j: S_((2j+1) 2^k)
  std::memcpy(&powers, &sum, sizeof sum);
  for (size_t factor = 1; factor < 2 * kErrors; factor *= 2) {
    for (size_t j = 0; (2 * j + 1) * factor < 2 * kErrors; ++j)
      out.s[kReversed - (2 * j + 1) * factor] = powers[j];
    multiply(powers, powers, powers);
  }
}

/// Finds the locator polynomial, the coefficient of x^i in lane i, i <= t. It does so without inversions, so the
/// polynomial is times a constant. It computes two Berlekamp-Massey rounds at a time, because every second
/// discrepancy of a binary code is zero.
template <size_t kErrors>
POLYKEM_BCH_INLINE void find_locator(Coefficients& locator, const Syndromes& syndromes) {
  alignas(64) uint16_t shifted[kLanes + 3] = {0, 0, 1};  // coefficient i of b at i + 2, so that x b is a load
  Coefficients lambda{}, kept{};
  lambda[0] = 1;
  for (size_t i = 0; i <= kErrors; ++i)
    kept[i] = 0xffff;
  uint16_t gamma = 1;
  int32_t k = 0;
  for (size_t r = 0; r < 2 * kErrors; r += 2) {
    Coefficients terms, xb, left, right, wide;
    load(terms, syndromes.s + kReversed - (r + 1));
    multiply(terms, terms, lambda);
    uint64_t folded[sizeof terms / 8], sum = 0;
    std::memcpy(folded, &terms, sizeof terms);
    for (const uint64_t word : folded)
      sum ^= word;
    sum ^= sum >> 32;
    const auto delta = static_cast<uint16_t>(sum ^ sum >> 16);
    load(xb, shifted + 1);
    broadcast(wide, gamma);
    multiply(left, wide, lambda);
    broadcast(wide, delta);
    multiply(right, wide, xb);
    // The new b is lambda if delta is not zero and k >= 0, else x b; then times x for the round left out.
    const auto not_zero = static_cast<uint32_t>((uint32_t{0} - delta) >> 31);
    const auto change = 0u - (not_zero & ~(static_cast<uint32_t>(k) >> 31));
    Coefficients next = (lambda & static_cast<uint16_t>(change)) | (xb & static_cast<uint16_t>(~change));
    next &= kept;
    lambda = (left ^ right) & kept;
    shifted[2] = 0;
    std::memcpy(shifted + 3, &next, sizeof next);
    gamma = static_cast<uint16_t>((delta & change) | (gamma & ~change));
    k = static_cast<int32_t>((static_cast<uint32_t>(-k) & change) | (static_cast<uint32_t>(k + 2) & ~change));
  }
  locator = lambda;
}

/// Computes a = a X + c, where X = alpha^e for the exponent e of each message bit.
POLYKEM_BCH_INLINE void horner(Planes& a, const Planes& x, uint16_t c) {
  Plane product[2 * kFieldBits - 1] = {};
  for (size_t i = 0; i < kFieldBits; ++i) {
    for (size_t j = 0; j < kFieldBits; ++j)
      product[i + j] ^= a[i] & x[j];
  }
  for (size_t i = 2 * kFieldBits - 2; i >= kFieldBits; --i) {
    product[i - kFieldBits] ^= product[i];
    product[i - kFieldBits + 4] ^= product[i];
  }
  for (size_t i = 0; i < kFieldBits; ++i)
    a[i] = product[i] ^ (uint64_t{0} - (uint64_t{c} >> i & 1u));
}

template <size_t kErrors>
struct Words {
  using Tables = Code<kErrors>;

  static void encode(uint8_t* parity, const uint8_t message[kBchMessageBytes]) {
    Row sum;
    sum_rows(sum, Tables::kParityRows.data(), message, kBchMessageBytes);
    std::memcpy(parity, &sum, Tables::kParityBytes);
  }

  static void decode(uint8_t message[kBchMessageBytes], const uint8_t* code) {
    Syndromes syndromes;
    compute_syndromes<kErrors>(syndromes, code);
    Coefficients locator;
    find_locator<kErrors>(locator, syndromes);
    Planes x, value = {};
    std::memcpy(x, Tables::kPositions.data(), sizeof x);
    for (size_t i = 0; i <= kErrors; ++i)
      horner(value, x, locator[i]);
    Plane nonzero{}, received;
    for (const Plane& plane : value)
      nonzero |= plane;
    std::memcpy(&received, code, sizeof received);
    received ^= ~nonzero;
    std::memcpy(message, &received, sizeof received);
  }

  static constexpr BchFunctions kTable = {kErrors, Tables::kParityBytes, encode, decode};
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::bch
