// SPDX-License-Identifier: Apache-2.0
// Arithmetic modulo the primes of P-256 and P-384 on one item, in 64-bit words and Montgomery form, in which x stands
// for x R^-1 with R = 2^(64 kWords). All numbers are below p.
#pragma once

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include <utility>

#include "prim/ecdh/nist_curves.hpp"

namespace polykem::ecdh {
inline namespace POLYKEM_ISA {

// x86 has functions of its own for carries, because GCC 12 makes a chain of add-with-carry of nothing else.

/// Returns a + b + carry; `carry` is 0 or 1, before and after.
POLYKEM_INLINE uint64_t add_carry(uint64_t a, uint64_t b, uint64_t& carry) {
#ifdef __x86_64__
  unsigned long long sum;
  carry = _addcarry_u64(static_cast<unsigned char>(carry), a, b, &sum);
  return sum;
#else
  const Wide sum = Wide{a} + b + carry;
  carry = static_cast<uint64_t>(sum >> 64);
  return static_cast<uint64_t>(sum);
#endif
}

/// Returns a - b - borrow; `borrow` is 0 or 1, before and after.
POLYKEM_INLINE uint64_t sub_borrow(uint64_t a, uint64_t b, uint64_t& borrow) {
#ifdef __x86_64__
  unsigned long long difference;
  borrow = _subborrow_u64(static_cast<unsigned char>(borrow), a, b, &difference);
  return difference;
#else
  const Wide difference = Wide{a} - b - borrow;
  borrow = static_cast<uint64_t>(difference >> 64) & 1;
  return static_cast<uint64_t>(difference);
#endif
}

template <class C>
struct Number : Words<C::kWords> {};

/// Adds the multiple m p that makes the first word of `sum` zero. Word kWords takes `carry` too, and leaves a carry to
/// the next word.
POLYKEM_INLINE void cancel(P256, uint64_t* sum, uint64_t& carry) {
  // p = 2^256 - 2^224 + 2^192 + 2^96 - 1, so that m is the word.
  const uint64_t m = sum[0];
  uint64_t borrow = 0, chain = 0;
  const uint64_t low = sub_borrow(m, m << 32, borrow), high = sub_borrow(m, m >> 32, borrow);
  sum[1] = add_carry(sum[1], m << 32, chain);
  sum[2] = add_carry(sum[2], m >> 32, chain);
  sum[3] = add_carry(sum[3], low, chain);
  sum[4] = add_carry(sum[4], high + carry, chain);  // high is less than 2^64 - 1
  carry = chain;
}

POLYKEM_INLINE void cancel(P384, uint64_t* sum, uint64_t& carry) {
  // p = 2^384 - 2^128 - 2^96 + 2^32 - 1, so that m is the word times 2^32 + 1. Added to the word, m (2^32 - 1) is
  // high 2^64. m (2^128 + 2^96) - high 2^64 is subtracted from words 1 to 3, and m 2^384 is added to word 6.
  const uint64_t m = sum[0] + (sum[0] << 32);
  uint64_t borrow = 0, chain = 0;
  const uint64_t low = sub_borrow(m << 32, m, borrow);
  uint64_t high = (m >> 32) - borrow;
  add_carry(sum[0], low, chain);
  high += chain;
  borrow = chain = 0;
  const uint64_t minus1 = sub_borrow(m << 32, high, borrow);
  const uint64_t minus2 = add_carry(m, (m >> 32) - borrow, chain);
  borrow = 0;
  sum[1] = sub_borrow(sum[1], minus1, borrow);
  sum[2] = sub_borrow(sum[2], minus2, borrow);
  sum[3] = sub_borrow(sum[3], chain, borrow);
  sum[4] = sub_borrow(sum[4], 0, borrow);
  sum[5] = sub_borrow(sum[5], 0, borrow);
  sum[6] = add_carry(sum[6], m - borrow, carry);  // nothing is borrowed for m = 0
}

/// Returns x + p modulo R if the mask is all ones, x if it is 0.
template <class C>
POLYKEM_INLINE Number<C> add_modulus(const Number<C>& x, uint64_t mask) {
  Number<C> out;
  uint64_t carry = 0;
  mask = ct::barrier(mask);
#pragma GCC unroll 8
  for (size_t i = 0; i < C::kWords; ++i)
    out.word[i] = add_carry(x.word[i], C::kP.word[i] & mask, carry);
  return out;
}

/// Returns x + carry R - p, or x + carry R if that is negative; x + carry R < 2 p.
template <class C>
POLYKEM_INLINE Number<C> reduce_once(const uint64_t* x, uint64_t carry) {
  Number<C> out;
  uint64_t borrow = 0;
#pragma GCC unroll 8
  for (size_t i = 0; i < C::kWords; ++i)
    out.word[i] = sub_borrow(x[i], C::kP.word[i], borrow);
  return add_modulus(out, carry - borrow);
}

template <class C>
POLYKEM_INLINE Number<C> operator+(const Number<C>& a, const Number<C>& b) {
  uint64_t sum[C::kWords], carry = 0;
#pragma GCC unroll 8
  for (size_t i = 0; i < C::kWords; ++i)
    sum[i] = add_carry(a.word[i], b.word[i], carry);
  return reduce_once<C>(sum, carry);
}

template <class C>
POLYKEM_INLINE Number<C> operator-(const Number<C>& a, const Number<C>& b) {
  Number<C> out;
  uint64_t borrow = 0;
#pragma GCC unroll 8
  for (size_t i = 0; i < C::kWords; ++i)
    out.word[i] = sub_borrow(a.word[i], b.word[i], borrow);
  return add_modulus(out, 0 - borrow);
}

template <class C>
POLYKEM_INLINE Number<C> operator-(const Number<C>& a) {
  return Number<C>{} - a;
}

template <class C>
POLYKEM_INLINE Number<C> twice(const Number<C>& a) {
  return a + a;
}
template <class C>
POLYKEM_INLINE Number<C> triple(const Number<C>& a) {
  return twice(a) + a;
}

/// Returns product / R modulo p; product < p R.
template <class C>
POLYKEM_INLINE Number<C> reduce(uint64_t (&product)[2 * C::kWords]) {
  uint64_t carry = 0;
#pragma GCC unroll 8
  for (size_t i = 0; i < C::kWords; ++i)
    cancel(C{}, product + i, carry);
  return reduce_once<C>(product + C::kWords, carry);
}

/// Adds a b to `sum`, where a has kWords words. Word kWords of the sum is only written.
template <size_t kWords>
POLYKEM_INLINE void add_row(uint64_t* sum, const uint64_t* a, uint64_t b) {
  uint64_t carry = 0;
#pragma GCC unroll 8
  for (size_t i = 0; i < kWords; ++i) {
    const Wide product = Wide{a[i]} * b + carry + sum[i];
    sum[i] = static_cast<uint64_t>(product);
    carry = static_cast<uint64_t>(product >> 64);
  }
  sum[kWords] = carry;
}

// mul_inlined() and sqr_inlined() are compiled into the functions that take most of the time. Other functions call
// mul() and sqr(), which keeps the code small.

template <class C>
POLYKEM_INLINE Number<C> mul_inlined(const Number<C>& a, const Number<C>& b) {
  uint64_t product[2 * C::kWords] = {};
#pragma GCC unroll 8
  for (size_t i = 0; i < C::kWords; ++i)
    add_row<C::kWords>(product + i, a.word, b.word[i]);
  return reduce<C>(product);
}

template <class C>
POLYKEM_NOINLINE Number<C> mul(const Number<C>& a, const Number<C>& b) {
  return mul_inlined(a, b);
}

/// Squares a: adds up twice the products of different words and the squares of all.
template <class C>
POLYKEM_INLINE Number<C> sqr_inlined(const Number<C>& a) {
  constexpr size_t n = C::kWords;
  uint64_t product[2 * n] = {};
  [&]<size_t... kI>(std::index_sequence<kI...>) {
    (add_row<n - 1 - kI>(product + 2 * kI + 1, a.word + kI + 1, a.word[kI]), ...);
  }
  (std::make_index_sequence<n - 1>{});
  uint64_t carry = 0;
#pragma GCC unroll 16
  for (size_t i = 1; i < 2 * n; ++i)
    product[i] = add_carry(product[i], product[i], carry);
  carry = 0;
#pragma GCC unroll 8
  for (size_t i = 0; i < n; ++i) {
    const Wide square = Wide{a.word[i]} * a.word[i];
    product[2 * i] = add_carry(product[2 * i], static_cast<uint64_t>(square), carry);
    product[2 * i + 1] = add_carry(product[2 * i + 1], static_cast<uint64_t>(square >> 64), carry);
  }
  return reduce<C>(product);
}
template <class C>
POLYKEM_NOINLINE Number<C> sqr(const Number<C>& a) {
  return sqr_inlined(a);
}

/// Returns power^(2^bits) ones, as invert() in nist_curves.hpp needs it.
template <class C>
POLYKEM_NOINLINE Number<C> append(const Number<C>& power, size_t bits, const Number<C>& ones) {
  Number<C> out = power;
  while (bits-- > 0)
    out = sqr_inlined(out);
  return mul(out, ones);
}

template <class C>
Number<C> invert(const Number<C>& x) {
  return invert(C{}, x);
}

/// Converts a number to Montgomery form.
template <class C>
Number<C> to_montgomery(const Words<C::kWords>& x) {
  constexpr Number<C> kSquare = {power_of_two<C>(2 * 64 * C::kWords)};
  return mul(Number<C>{x}, kSquare);
}
/// Converts a number from Montgomery form.
template <class C>
Words<C::kWords> from_montgomery(const Number<C>& x) {
  return mul(x, Number<C>{{{1}}});
}

template <class C>
Number<C> one() {
  constexpr Number<C> kOne = {power_of_two<C>(64 * C::kWords)};
  return kOne;
}

/// Returns all ones if x is 0, else 0.
template <class C>
uint64_t zero_mask(const Number<C>& x) {
  uint64_t bits = 0;
  for (const uint64_t word : x.word)
    bits |= word;
  return ct::barrier(((bits | (0 - bits)) >> 63) - 1);
}

/// Sets `out` to `a` if the mask is all ones, and leaves it as it is if the mask is 0.
template <class C>
POLYKEM_INLINE void assign(uint64_t mask, Number<C>& out, const Number<C>& a) {
  mask = ct::barrier(mask);
  for (size_t i = 0; i < C::kWords; ++i)
    out.word[i] ^= (out.word[i] ^ a.word[i]) & mask;
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::ecdh
