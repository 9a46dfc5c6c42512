// SPDX-License-Identifier: Apache-2.0
// NTRU's polynomial operations other than products and inversions, on interleaved items, one per 16-bit lane:
// coefficient i of item l is at [i][l].
#pragma once

#include "prim/simd/vec16.hpp"
#include "schemes/ntru/types.hpp"

namespace polykem::ntru::interleaved {
inline namespace POLYKEM_ISA {

using simd::V16;
inline constexpr size_t kLanes = V16::kLanes;

/// One polynomial of each item, interleaved. The ranges of its domain are those of ntru::Poly.
template <NtruParams P, class Domain>
struct alignas(64) LanePoly {
  uint16_t c[P.n][kLanes];

  V16 get(size_t i) const { return V16::load(c[i]); }
  void set(size_t i, V16 value) { value.store(c[i]); }
  uint16_t* data() { return c[0]; }
  const uint16_t* data() const { return c[0]; }
};

/// Returns x mod 3. Range in: below 2^15. (check-magic: 21846 == ceil(2^16 / 3))
POLYKEM_INLINE V16 mod3(V16 x) {
  return x - mulhi_u(x, V16::set1(21846)) * V16::set1(3);
}

/// Returns x mod 3. Range in: below 6.
POLYKEM_INLINE V16 mod3_below_6(V16 x) {
  return min_u(x, x - V16::set1(3));
}

/// Maps {0, 1, 2} to {0, 1, -1}.
POLYKEM_INLINE V16 centred(V16 x) {
  return x - V16::set1(3) * x.template shr<1>();
}

/// Maps {0, 1, 2} to {0, 2, 1}.
POLYKEM_INLINE V16 negated_mod3(V16 x) {
  return x + x - V16::set1(3) * x.template shr<1>();
}

template <NtruParams P>
void poly_Z3_to_Zq(LanePoly<P, Rq>& out, const LanePoly<P, S3>& in) {
  for (size_t i = 0; i < P.n; ++i)
    out.set(i, centred(in.get(i)));
}

/// Computes G = 3g for HPS, 3(x - 1)g for HRSS. Range of g: {0, 1, 2}.
template <NtruParams P>
void poly_G(LanePoly<P, Rq>& out, const LanePoly<P, S3>& g) {
  const V16 three = V16::set1(3);
  V16 before = P.variant == Variant::kHps ? V16::zero() : centred(g.get(P.n - 1));
  for (size_t i = 0; i < P.n; ++i) {
    const V16 x = centred(g.get(i));
    if constexpr (P.variant == Variant::kHps) {
      out.set(i, three * x);
    } else {
      out.set(i, three * (before - x));
      before = x;
    }
  }
}

/// Reduces a mod (q, Phi_n) in place by subtracting the last coefficient from all.
template <NtruParams P>
void poly_mod_q_Phi_n(LanePoly<P, Rq>& a) {
  const V16 last = a.get(P.n - 1);
  for (size_t i = 0; i < P.n; ++i)
    a.set(i, a.get(i) - last);
}

/// Replaces the last coefficient by minus the sum of the others.
template <NtruParams P>
void poly_sum_zero(LanePoly<P, Rq>& a) {
  V16 sum = V16::zero();
  for (size_t i = 0; i + 1 < P.n; ++i)
    sum = sum + a.get(i);
  a.set(P.n - 1, V16::zero() - sum);
}

/// Centres the coefficients of a mod q around 0, then reduces them mod (3, Phi_n).
template <NtruParams P>
void poly_Rq_to_S3(LanePoly<P, S3>& out, const LanePoly<P, Rq>& a) {
  const V16 minus_q = V16::set1((3 - P.q() % 3) % 3), mask = V16::set1(P.q() - 1);
  const auto reduced = [&](size_t i) {
    const V16 x = a.get(i) & mask;
    return mod3(x + minus_q * x.template shr<P.logq - 1>());
  };
  const V16 minus_last = negated_mod3(reduced(P.n - 1));
  for (size_t i = 0; i < P.n; ++i)
    out.set(i, mod3_below_6(reduced(i) + minus_last));
}

/// Calls use(i, Lift(m)_i) for all i; see ref::poly_lift for the algebra. [NTRU20, Lift]
template <NtruParams P, class Use>
POLYKEM_INLINE void for_lifted(const LanePoly<P, S3>& m, Use&& use) {
  if constexpr (P.variant == Variant::kHps) {
    for (size_t i = 0; i < P.n; ++i)
      use(i, centred(m.get(i)));
  } else {
    V16 m_at_1 = V16::zero();
    for (size_t i = 0; i < P.n; ++i)
      m_at_1 = m_at_1 + m.get(i);
    const V16 t = mod3(m_at_1);
    V16 quotient = V16::zero(), before = V16::zero();  // the quotient's last coefficient is 0
    for (size_t i = 0; i < P.n; ++i) {
      quotient = mod3_below_6(quotient + negated_mod3(mod3_below_6(m.get(i) + t)));
      const V16 x = centred(quotient);
      use(i, before - x);
      before = x;
    }
  }
}

/// Computes r, the ternary form of a mod q. Returns lanes that have a nonzero bit where a coefficient is none of 0, 1
/// and -1.
template <NtruParams P>
V16 poly_ternary(LanePoly<P, S3>& r, const LanePoly<P, Rq>& a) {
  const V16 mask = V16::set1(P.q() - 1), one = V16::set1(1), two = V16::set1(2), three = V16::set1(3);
  V16 bad = V16::zero();
  for (size_t i = 0; i < P.n; ++i) {
    const V16 plus_one = (a.get(i) + one) & mask;
    bad = bad | plus_one.template shr<2>() | (plus_one & plus_one.template shr<1>() & one);
    r.set(i, mod3_below_6((plus_one & three) + two));
  }
  return bad;
}

/// Returns lanes that have a nonzero bit where m does not have weight/2 coefficients of each sign (HPS only).
template <NtruParams P>
V16 wrong_weight(const LanePoly<P, S3>& m) {
  const V16 one = V16::set1(1), half = V16::set1(static_cast<uint16_t>(P.weight() / 2));
  V16 ones = V16::zero(), twos = V16::zero();
  for (size_t i = 0; i < P.n; ++i) {
    const V16 x = m.get(i);
    ones = ones + (x & one);
    twos = twos + x.template shr<1>();
  }
  return (ones ^ half) | (twos ^ half);
}

/// Flips the signs at even indices in the lanes where <x a, a> < 0, in place. [NTRU20, Ternary_Plus]
template <NtruParams P>
void poly_plus(LanePoly<P, S3>& a) {
  V16 product = V16::zero();  // at most n in absolute value
  V16 x = centred(a.get(0));
  for (size_t i = 0; i + 1 < P.n; ++i) {
    const V16 y = centred(a.get(i + 1));
    product = product + x * y;
    x = y;
  }
  const V16 negative = product.template sar<15>();
  for (size_t i = 0; i < P.n; i += 2) {
    const V16 value = a.get(i);
    a.set(i, value ^ (negative & (value ^ negated_mod3(value))));
  }
}

/// Returns all ones in the lanes whose polynomial is not 0.
template <NtruParams P>
V16 nonzero_lanes(const LanePoly<P, S3>& a) {
  V16 any = V16::zero();
  for (size_t i = 0; i < P.n; ++i)
    any = any | a.get(i);
  return V16::zero() - min_u(any, V16::set1(1));
}

/// Returns x in the lanes of the mask, 1 in the others.
POLYKEM_INLINE V16 select_or_one(V16 mask, V16 x) {
  return (x & mask) + (V16::set1(1) + mask);
}

/// Zeroes the lanes that are not in the mask.
template <NtruParams P, class Domain>
void mask_lanes(LanePoly<P, Domain>& a, V16 mask) {
  for (size_t i = 0; i < P.n; ++i)
    a.set(i, a.get(i) & mask);
}

/// Computes a = 2 - a, the middle part of a Newton step.
template <NtruParams P>
void two_minus(LanePoly<P, Rq>& a) {
  for (size_t i = 0; i < P.n; ++i)
    a.set(i, (i == 0 ? V16::set1(2) : V16::zero()) - a.get(i));
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::ntru::interleaved
