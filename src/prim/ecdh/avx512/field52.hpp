// SPDX-License-Identifier: Apache-2.0
// Arithmetic modulo the primes of P-256 and P-384 on eight items at a time, an item in each 64-bit lane. Limbs have 52
// bits, which IFMA multiplies. Numbers are in Montgomery form, in which x stands for x R^-1 with R = 2^(52 kLimbs)
// [GK16].
//
// Numbers are not reduced to less than p. Their types say how large they are and which limbs they have, and the
// compiler adds up the bounds: a Sum<C, 5> is in [0, 5 p]. The CPU has time for an addition or shift beside every
// second multiplication, so carries are left out where limbs may be large.
#pragma once

#include <immintrin.h>

#include "prim/ecdh/nist_curves.hpp"

namespace polykem::ecdh {
inline namespace POLYKEM_ISA {

/// Eight lanes of 64 bits. The operators + - & | << >> work on each of them; >> keeps the sign.
using V = __m512i;

inline constexpr int kLimbBits = 52;
inline constexpr uint64_t kLimbMask = (uint64_t{1} << kLimbBits) - 1;

POLYKEM_INLINE V all_lanes(uint64_t x) {
  return _mm512_set1_epi64(static_cast<long long>(x));
}
/// Returns sum + the low 52 bits of a b. Only the low 52 bits of a and b count.
POLYKEM_INLINE V add_low(V sum, V a, V b) {
  return _mm512_madd52lo_epu64(sum, a, b);
}
/// Returns sum + the high 52 bits of a b. Only the low 52 bits of a and b count.
POLYKEM_INLINE V add_high(V sum, V a, V b) {
  return _mm512_madd52hi_epu64(sum, a, b);
}

/// The limbs of a constant.
template <size_t kLimbs>
struct Limbs {
  uint64_t limb[kLimbs];
};

/// Returns factor x in limbs of 52 bits, of which the last may have more.
template <size_t kLimbs, size_t kWords>
constexpr Limbs<kLimbs> limbs_of(const Words<kWords>& x, uint64_t factor = 1) {
  Limbs<kLimbs> out{};
  Wide carry = 0;
  for (size_t i = 0; i < kLimbs; ++i) {
    const size_t word = 52 * i / 64, shift = 52 * i % 64;
    uint64_t bits = word < kWords ? x.word[word] >> shift : 0;
    if (shift > 12 && word + 1 < kWords) bits |= x.word[word + 1] << (64 - shift);
    carry += Wide{bits & kLimbMask} * factor;
    out.limb[i] = static_cast<uint64_t>(carry) & (i + 1 < kLimbs ? kLimbMask : ~uint64_t{0});
    carry >>= kLimbBits;
  }
  return out;
}

/// The operations that the form of p, in limbs, makes simple.
template <class C>
struct Prime;

/// p = 2^256 - 2^224 + 2^192 + 2^96 - 1.
template <>
struct Prime<P256> {
  static constexpr size_t kLimbs = 5;
  /// R > kMaxMultiple p. A Factor or Number is at most kMaxMultiple p.
  static constexpr long long kMaxMultiple = 1 << 4;
  /// The bound of what partly_reduce() leaves: partly_reduced() makes a Number<C, kPartlyReducedBound> of a Sum.
  static constexpr int kPartlyReducedBound = 2;
  /// True if products are compiled into their callers, which can then compute something else while a product waits.
  static constexpr bool kInline = true;

  /// Adds the multiple m p that makes the low 52 bits of limb 0 zero, and carries the other bits of this limb. m is
  /// those low bits, as p = -1 modulo 2^52. The number is `sum` less `minus`, which both begin at limb 0; here `minus`
  /// stays 0.
  static POLYKEM_INLINE void cancel(V* sum, V*) {
    const V m = sum[0], shift44 = all_lanes(uint64_t{1} << 44), shift36 = all_lanes(uint64_t{1} << 36);
    const V top = all_lanes((uint64_t{1} << 48) - (uint64_t{1} << 16));
    sum[1] = add_low(sum[1], m, shift44) + (m >> kLimbBits);
    sum[2] = add_high(sum[2], m, shift44);
    sum[3] = add_low(sum[3], m, shift36);
    sum[4] = add_low(add_high(sum[4], m, shift36), m, top);
    sum[5] = add_high(sum[5], m, top);
  }

  /// Adds kFactor p to x.
  template <uint64_t kFactor>
  static POLYKEM_INLINE void add_multiple(V (&x)[kLimbs]) {
    x[0] -= all_lanes(kFactor);
    x[1] += all_lanes(kFactor << 44);
    x[3] += all_lanes(kFactor << 36);
    x[4] += all_lanes((kFactor << 48) - (kFactor << 16));
  }

  /// Subtracts floor(x / 2^256) p from x, where the quotient leaves out what the lower limbs carry, which is less than
  /// 2^(208 + 11). x is in [0, 64 p] before and in [0, 2 p] after.
  static POLYKEM_INLINE void partly_reduce(V (&x)[kLimbs]) {
    const V quotient = x[4] >> 48;
    x[0] += quotient;
    x[1] -= quotient << 44;
    x[3] -= quotient << 36;
    x[4] += (quotient << 16) - (quotient << 48);
  }
};

/// p = 2^384 - 2^128 - 2^96 + 2^32 - 1.
template <>
struct Prime<P384> {
  static constexpr size_t kLimbs = 8;
  static constexpr long long kMaxMultiple = 1ll << 32;
  static constexpr int kPartlyReducedBound = 64;
  static constexpr bool kInline = false;  // products need all registers

  /// Adds m p and carries, like Prime<P256>::cancel(). m is limb 0 times 1 + 2^32, as p = 2^32 - 1 modulo 2^52. This
  /// limb and the low 52 bits of m p add up to a carry alone, the bits of m above the low 52.
  static POLYKEM_INLINE void cancel(V* sum, V* minus) {
    const V shift44 = all_lanes(uint64_t{1} << 44), shift32 = all_lanes(uint64_t{1} << 32);
    const V shift24 = all_lanes(uint64_t{1} << 24), shift20 = all_lanes(uint64_t{1} << 20);
    const V limb = sum[0] - minus[0], m = limb + ((limb << 32) & all_lanes(kLimbMask));
    sum[1] = add_high(sum[1], m, shift32) + (m >> kLimbBits);
    minus[1] = add_low(minus[1], m, shift44);
    minus[2] = add_low(add_high(minus[2], m, shift44), m, shift24);
    minus[3] = add_high(minus[3], m, shift24);
    sum[7] = add_low(sum[7], m, shift20);
    sum[8] = add_high(sum[8], m, shift20);
  }

  template <uint64_t kFactor>
  static POLYKEM_INLINE void add_multiple(V (&x)[kLimbs]) {
    static_assert(kFactor < 1 << 19);
    x[0] += all_lanes((kFactor << 32) - kFactor);
    x[1] -= all_lanes(kFactor << 44);
    x[2] -= all_lanes(kFactor << 24);
    x[7] += all_lanes(kFactor << 20);
  }

  /// Does nothing: numbers up to kPartlyReducedBound p leave enough room below R.
  static POLYKEM_INLINE void partly_reduce(V (&)[kLimbs]) {}
};

template <class C>
inline constexpr size_t kLimbs = Prime<C>::kLimbs;

/// The form of a value's limbs. kSum: signed limbs of any size, only to be added. kFactor: the low 52 bits of the limbs
/// are the number, only to be multiplied. kNumber: limbs in [0, 2^52).
enum class Form { kSum, kFactor, kNumber };

/// A value in [0, kBound p].
template <class C, int kBound, Form kForm>
struct alignas(64) Value {
  static_assert(kForm == Form::kSum || kBound <= Prime<C>::kMaxMultiple);
  V limb[kLimbs<C>];

  Value() = default;
  /// Converts a value with a smaller bound, or one whose form is kNumber, whose limbs suit every form.
  template <int kLess, Form kOther>
  POLYKEM_INLINE Value(const Value<C, kLess, kOther>& other) {
    static_assert(kLess <= kBound && (kOther == kForm || kOther == Form::kNumber));
    for (size_t i = 0; i < kLimbs<C>; ++i)
      limb[i] = other.limb[i];
  }
};

template <class C, int kBound>
using Sum = Value<C, kBound, Form::kSum>;
template <class C, int kBound>
using Factor = Value<C, kBound, Form::kFactor>;
template <class C, int kBound>
using Number = Value<C, kBound, Form::kNumber>;
template <class C>
using PartlyReduced = Number<C, Prime<C>::kPartlyReducedBound>;

template <class C, int kA, Form kFormA, int kB, Form kFormB>
POLYKEM_INLINE Sum<C, kA + kB> operator+(const Value<C, kA, kFormA>& a, const Value<C, kB, kFormB>& b) {
  static_assert(kFormA != Form::kFactor && kFormB != Form::kFactor);
  Sum<C, kA + kB> out;
  for (size_t i = 0; i < kLimbs<C>; ++i)
    out.limb[i] = a.limb[i] + b.limb[i];
  return out;
}

/// Returns a - b + kB p.
template <class C, int kA, Form kFormA, int kB, Form kFormB>
POLYKEM_INLINE Sum<C, kA + kB> operator-(const Value<C, kA, kFormA>& a, const Value<C, kB, kFormB>& b) {
  static_assert(kFormA != Form::kFactor && kFormB != Form::kFactor);
  Sum<C, kA + kB> out;
  for (size_t i = 0; i < kLimbs<C>; ++i)
    out.limb[i] = a.limb[i] - b.limb[i];
  Prime<C>::template add_multiple<kB>(out.limb);
  return out;
}

/// Returns kB p - b.
template <class C, int kB, Form kFormB>
POLYKEM_INLINE Sum<C, kB> operator-(const Value<C, kB, kFormB>& b) {
  Sum<C, 0> zero;
  for (V& limb : zero.limb)
    limb = _mm512_setzero_si512();
  return zero - b;
}

template <int kFactor, class C, int kA, Form kForm>
POLYKEM_INLINE Sum<C, kFactor * kA> times(const Value<C, kA, kForm>& a) {
  static_assert(kForm != Form::kFactor && (kFactor == 3 || (kFactor & (kFactor - 1)) == 0));
  Sum<C, kFactor * kA> out;
  for (size_t i = 0; i < kLimbs<C>; ++i)
    out.limb[i] = kFactor == 3 ? a.limb[i] + a.limb[i] + a.limb[i] : a.limb[i] << __builtin_ctz(kFactor);
  return out;
}

template <class C, int kA>
POLYKEM_INLINE Factor<C, kA> factor(const Sum<C, kA>& a) {
  Factor<C, kA> out;
  out.limb[0] = a.limb[0];
  for (size_t i = 1; i < kLimbs<C>; ++i)
    out.limb[i] = a.limb[i] + (out.limb[i - 1] >> kLimbBits);
  return out;
}

template <class C, int kA>
POLYKEM_INLINE Number<C, kA> number(const Sum<C, kA>& a) {
  const Factor<C, kA> carried = factor(a);
  Number<C, kA> out;
  for (size_t i = 0; i < kLimbs<C>; ++i)
    out.limb[i] = i + 1 < kLimbs<C> ? carried.limb[i] & all_lanes(kLimbMask) : carried.limb[i];
  return out;
}

/// Returns the same number modulo p, in [0, kPartlyReducedBound p].
template <class C, int kA>
POLYKEM_INLINE PartlyReduced<C> partly_reduced(Sum<C, kA> a) {
  static_assert(kA <= 64);
  Prime<C>::partly_reduce(a.limb);
  Sum<C, Prime<C>::kPartlyReducedBound> out;
  for (size_t i = 0; i < kLimbs<C>; ++i)
    out.limb[i] = a.limb[i];
  return number(out);
}

/// Returns the bound, in multiples of p, of the product of x <= a p and y <= b p:
/// (x y + m p) / R < (x y / (R p) + 1) p.
template <class C>
constexpr int product_bound(long long a, long long b) {
  return static_cast<int>((a * b + Prime<C>::kMaxMultiple - 1) / Prime<C>::kMaxMultiple) + 1;
}

/// A product, `sum` less `minus`, that is reduced from 2 kLimbs to kLimbs limbs.
template <class C>
struct Product {
  static constexpr size_t n = kLimbs<C>;
  V sum[2 * n], minus[2 * n];

  POLYKEM_INLINE Product() {
    for (size_t i = 0; i < 2 * n; ++i)
      sum[i] = minus[i] = _mm512_setzero_si512();
  }
  POLYKEM_INLINE void cancel(size_t i) { Prime<C>::cancel(sum + i, minus + i); }
  POLYKEM_INLINE void finish(V (&out)[n]) {
    for (size_t i = 0; i < n; ++i)
      out[i] = sum[n + i] - minus[n + i];
  }
};

/// The multiplication a b, row by row.
template <class C, int kTimes>
struct Multiplication {
  static constexpr size_t n = kLimbs<C>;
  static constexpr int kBound = kTimes;
  using Curve = C;
  const V (&a)[n], (&b)[n];

  POLYKEM_INLINE void step(Product<C>& product, size_t i) const {
    V(&sum)[2 * n] = product.sum;
#pragma GCC unroll 8
    for (size_t j = 0; j < n; ++j) {
      sum[i + j] = add_low(sum[i + j], a[j], b[i]);
      sum[i + j + 1] = add_high(sum[i + j + 1], a[j], b[i]);
    }
    product.cancel(i);
  }
};

/// The squaring a^2, column by column, since most of a column is doubled.
template <class C, int kTimes>
struct Squaring {
  static constexpr size_t n = kLimbs<C>;
  static constexpr int kBound = kTimes;
  using Curve = C;
  const V (&a)[n];

  POLYKEM_INLINE void step(Product<C>& product, size_t i) const {
    if (i == 0) {
#pragma GCC unroll 8
      for (size_t k = 0; k < n; ++k)
        product.sum[k] = column(k);
    }
    product.sum[n + i] = column(n + i);
    product.cancel(i);
  }

  POLYKEM_INLINE V column(size_t k) const {
    V sum = _mm512_setzero_si512();
#pragma GCC unroll 8
    for (size_t i = 0; i < n; ++i) {
      if (k > 2 * i && k - i < n) sum = add_low(sum, a[i], a[k - i]);
      if (k > 2 * i + 1 && k - 1 - i < n) sum = add_high(sum, a[i], a[k - 1 - i]);
    }
    sum += sum;
    return k % 2 == 0 ? add_low(sum, a[k / 2], a[k / 2]) : add_high(sum, a[k / 2], a[k / 2]);
  }
};

template <class Work>
using Result = Sum<typename Work::Curve, Work::kBound>;

template <class Work>
POLYKEM_INLINE Result<Work> run_inlined(Work work) {
  Product<typename Work::Curve> product;
  Result<Work> out;
#pragma GCC unroll 8
  for (size_t i = 0; i < Work::n; ++i)
    work.step(product, i);
  product.finish(out.limb);
  return out;
}
template <class Work>
POLYKEM_NOINLINE Result<Work> run_called(Work work) {
  return run_inlined(work);
}
template <class Work>
POLYKEM_INLINE Result<Work> run(Work work) {
  if constexpr (Prime<typename Work::Curve>::kInline) return run_inlined(work);
  return run_called(work);
}

template <class First, class Second>
struct Both {
  Result<First> first;
  Result<Second> second;
};
template <class First, class Second>
POLYKEM_INLINE Both<First, Second> both_inlined(First first, Second second) {
  Product<typename First::Curve> product, other;
  Both<First, Second> out;
#pragma GCC unroll 8
  for (size_t i = 0; i < First::n; ++i) {
    first.step(product, i);
    second.step(other, i);
  }
  product.finish(out.first.limb);
  other.finish(out.second.limb);
  return out;
}
template <class First, class Second>
POLYKEM_NOINLINE Both<First, Second> both_called(First first, Second second) {
  return both_inlined(first, second);
}
/// Computes two results that do not wait for each other, a step of each in turn: the CPU would not look so far ahead.
template <class First, class Second>
POLYKEM_INLINE Both<First, Second> both(First first, Second second) {
  if constexpr (Prime<typename First::Curve>::kInline) return both_inlined(first, second);
  return both_called(first, second);
}

template <class C, int kA, Form kFormA, int kB, Form kFormB>
POLYKEM_INLINE auto product(const Value<C, kA, kFormA>& a, const Value<C, kB, kFormB>& b) {
  static_assert(kFormA != Form::kSum && kFormB != Form::kSum);
  return Multiplication<C, product_bound<C>(kA, kB)>{a.limb, b.limb};
}
template <class C, int kA, Form kForm>
POLYKEM_INLINE auto square(const Value<C, kA, kForm>& a) {
  static_assert(kForm != Form::kSum);
  return Squaring<C, product_bound<C>(kA, kA)>{a.limb};
}
POLYKEM_INLINE auto mul(const auto& a, const auto& b) {
  return run(product(a, b));
}
POLYKEM_INLINE auto sqr(const auto& a) {
  return run(square(a));
}

/// Returns a^(2^times).
template <class C>
POLYKEM_NOINLINE Factor<C, 2> sqr(const Factor<C, 2>& a, size_t times) {
  Factor<C, 2> power = a;
  while (times-- > 0)
    power = factor(run_inlined(square(power)));
  return power;
}

/// Returns x in all lanes; x < p.
template <class C>
Number<C, 1> constant(const Limbs<kLimbs<C>>& x) {
  Number<C, 1> out;
  for (size_t i = 0; i < kLimbs<C>; ++i)
    out.limb[i] = all_lanes(x.limb[i]);
  return out;
}

/// Converts a number to Montgomery form.
template <class C, int kA>
POLYKEM_NOINLINE Number<C, 2> to_montgomery(const Number<C, kA>& a) {
  constexpr auto kSquare = limbs_of<kLimbs<C>>(power_of_two<C>(2 * kLimbBits * kLimbs<C>));
  return number(mul(a, constant<C>(kSquare)));
}
template <class C>
Number<C, 2> to_montgomery(const Words<C::kWords>& a) {
  return to_montgomery(constant<C>(limbs_of<kLimbs<C>>(a)));
}

/// Sets `out` to `a` in `lanes`.
template <class C, int kA, Form kForm>
POLYKEM_INLINE void assign(__mmask8 lanes, Value<C, kA, kForm>& out, const Value<C, kA, kForm>& a) {
  for (size_t i = 0; i < kLimbs<C>; ++i)
    out.limb[i] = _mm512_mask_mov_epi64(out.limb[i], lanes, a.limb[i]);
}

/// Returns the number that `a` stands for, in [0, p).
template <class C, int kA, Form kForm>
POLYKEM_NOINLINE Number<C, 1> from_montgomery(const Value<C, kA, kForm>& a) {
  static_assert(kA < Prime<C>::kMaxMultiple);
  const auto x = number(mul(a, constant<C>(Limbs<kLimbs<C>>{{1}})));  // p at most
  constexpr auto kModulus = limbs_of<kLimbs<C>>(C::kP);
  Sum<C, 1> difference;
  for (size_t i = 0; i < kLimbs<C>; ++i)
    difference.limb[i] = x.limb[i] - all_lanes(kModulus.limb[i]);
  Number<C, 1> out = number(difference);
  const __mmask8 negative = _mm512_movepi64_mask(out.limb[kLimbs<C> - 1]);
  for (size_t i = 0; i < kLimbs<C>; ++i)
    out.limb[i] = _mm512_mask_mov_epi64(out.limb[i], negative, x.limb[i]);
  return out;
}

/// Returns the lanes in which a is 0 modulo p.
template <class C, int kA, Form kForm>
__mmask8 zero_lanes(const Value<C, kA, kForm>& a) {
  const auto x = from_montgomery(a);
  V bits = x.limb[0];
  for (size_t i = 1; i < kLimbs<C>; ++i)
    bits |= x.limb[i];
  return _mm512_testn_epi64_mask(bits, bits);
}

/// Returns power^(2^bits) ones, as invert() in nist_curves.hpp needs it.
template <class C>
POLYKEM_NOINLINE Factor<C, 2> append(const Factor<C, 2>& power, size_t bits, const Factor<C, 2>& ones) {
  return factor(mul(sqr(power, bits), ones));
}

template <class C>
POLYKEM_NOINLINE Factor<C, 2> invert(const Factor<C, 2>& x) {
  return invert(C{}, x);
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::ecdh
