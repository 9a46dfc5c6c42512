// SPDX-License-Identifier: Apache-2.0
// Arithmetic on rows in vectors of any width.
#pragma once

#include "ckks/src/rows/rows.hpp"
#include "core/isa.hpp"

namespace polykem::ckks {
inline namespace POLYKEM_ISA {

/// Returns a - m if that is not negative, else a; a is below 2m.
template <class Lanes>
POLYKEM_INLINE typename Lanes::V sum_mod(typename Lanes::V a, typename Lanes::V b, typename Lanes::V q) {
  return Lanes::reduce(Lanes::add(a, b), q);
}
template <class Lanes>
POLYKEM_INLINE typename Lanes::V difference_mod(typename Lanes::V a, typename Lanes::V b, typename Lanes::V q) {
  return Lanes::reduce(Lanes::sub(Lanes::add(a, q), b), q);
}

template <class Lanes>
void add_rows(const Modulus& m, size_t n, const uint64_t* a, const uint64_t* b, uint64_t* out) {
  const auto q = Lanes::all(m.value());
  for (size_t k = 0; k < n; k += Lanes::kCount)
    Lanes::store(out + k, sum_mod<Lanes>(Lanes::load(a + k), Lanes::load(b + k), q));
}

template <class Lanes>
void sub_rows(const Modulus& m, size_t n, const uint64_t* a, const uint64_t* b, uint64_t* out) {
  const auto q = Lanes::all(m.value());
  for (size_t k = 0; k < n; k += Lanes::kCount)
    Lanes::store(out + k, difference_mod<Lanes>(Lanes::load(a + k), Lanes::load(b + k), q));
}

template <class Arithmetic>
void sub_scale_rows(const Modulus& m, size_t n, const uint64_t* a, const uint64_t* b, const Factor& factor,
                    uint64_t* out) {
  using Lanes = typename Arithmetic::Lanes;
  const Arithmetic arithmetic(m);
  const auto q = Lanes::all(m.value());
  const auto root = arithmetic.root(factor);
  for (size_t k = 0; k < n; k += Lanes::kCount) {
    const auto difference = Lanes::sub(Lanes::add(Lanes::load(a + k), q), Lanes::load(b + k));
    Lanes::store(out + k, arithmetic.canonical(arithmetic.multiply(difference, root)));
  }
}

template <class Arithmetic>
void centre_row(const Modulus& m, size_t n, const uint64_t* a, uint64_t from, uint64_t* out) {
  using Lanes = typename Arithmetic::Lanes;
  const Arithmetic arithmetic(m);
  const auto q = Lanes::all(m.value()), half = Lanes::all(from / 2);
  const auto from_mod_q = Lanes::all(m.reduce(from));
  const auto one = arithmetic.root(m.factor(1));
  for (size_t k = 0; k < n; k += Lanes::kCount) {
    const auto x = Lanes::load(a + k);
    const auto residue = arithmetic.canonical(arithmetic.multiply(x, one));
    Lanes::store(out + k, difference_mod<Lanes>(residue, Lanes::if_greater(x, half, from_mod_q), q));
  }
}

/// Returns the low `bits` bits of x, 1 to 64, reversed.
POLYKEM_INLINE size_t reversed_bits(uint64_t x, unsigned bits) {
  x = __builtin_bswap64(x);
  x = (x >> 4 & 0x0f0f0f0f0f0f0f0f) | (x & 0x0f0f0f0f0f0f0f0f) << 4;
  x = (x >> 2 & 0x3333333333333333) | (x & 0x3333333333333333) << 2;
  x = (x >> 1 & 0x5555555555555555) | (x & 0x5555555555555555) << 1;
  return x >> (64 - bits);
}

/// Place i has the value at psi^(2 r + 1), where r is i with its log_n bits reversed; X -> X^g takes it from
/// r' = (2 r + 1) g >> 1. Places of a vector differ in the upper bits of r only, and so do those where their values
/// come from: they are a vector, too, in an order that depends on the upper bits of the first r'.
template <class Lanes>
void permute_row(unsigned log_n, uint64_t g, const uint64_t* a, uint64_t* out) {
  constexpr size_t kCount = Lanes::kCount;
  constexpr unsigned kBits = Lanes::kLayers;
  const unsigned lower_bits = log_n - kBits;
  typename Lanes::Order orders[kCount];
  for (size_t first = 0; first < kCount; ++first) {
    uint64_t places[kCount];
    for (size_t i = 0; i < kCount; ++i)
      places[i] = reversed_bits(first + reversed_bits(i, kBits) * g, kBits);
    orders[first] = Lanes::order(places);
  }
  for (size_t vector = 0; vector < size_t{1} << lower_bits; ++vector) {
    const uint64_t from = (2 * reversed_bits(vector, lower_bits) + 1) * g >> 1;
    const auto values = Lanes::load(a + reversed_bits(from, lower_bits) * kCount);
    Lanes::store(out + vector * kCount, Lanes::permuted(values, orders[(from >> lower_bits) % kCount]));
  }
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::ckks
