// SPDX-License-Identifier: Apache-2.0
// NTRU's polynomial operations on one item, portable and in constant time. Every polynomial has P.n coefficients.
#pragma once

#include <cstring>

#include "core/secure.hpp"
#include "ct/ct.hpp"
#include "schemes/ntru/types.hpp"

namespace polykem::ntru::ref {
inline namespace POLYKEM_ISA {

/// Reduces c mod (q, Phi_n) in place by subtracting the last coefficient from all. The last coefficient becomes 0.
template <NtruParams P>
void poly_mod_q_Phi_n(uint16_t (&c)[P.n]) {
  const uint16_t last = c[P.n - 1];
  for (auto& x : c)
    x = static_cast<uint16_t>(x - last);
}

/// Reduces c mod (3, Phi_n) in place. Range in: below 2^15; out: {0, 1, 2}, the last coefficient 0.
template <NtruParams P>
void poly_mod_3_Phi_n(uint16_t (&c)[P.n]) {
  const uint32_t minus_last = 2u * ct::mod3(c[P.n - 1]);
  for (auto& x : c)
    x = ct::mod3(ct::mod3(x) + minus_last);
}

/// Maps {0, 1, 2} to {0, 1, -1} mod 2^16, in place.
template <NtruParams P>
void poly_Z3_to_Zq(uint16_t (&c)[P.n]) {
  for (auto& x : c)
    x = static_cast<uint16_t>(x - 3u * (x >> 1));
}

/// Computes out = Lift(m): m itself for HPS, (x - 1) (m / (x - 1) mod (3, Phi_n)) for HRSS. [NTRU20, Lift]
/// With d = m + t Phi_n and t such that d(1) = 0 mod 3, the quotient's coefficients are minus the prefix sums of d.
template <NtruParams P>
void poly_lift(Poly<P, Rq>& out, const Poly<P, S3>& m) {
  if constexpr (P.variant == Variant::kHps) {
    std::memcpy(out.c, m.c, sizeof out.c);
    poly_Z3_to_Zq<P>(out.c);
  } else {
    static_assert(P.variant == Variant::kHps || P.n % 3 == 2, "t = m(1) needs -1/n = 1 mod 3");
    uint32_t m_at_1 = 0;
    for (const auto x : m.c)
      m_at_1 += x;
    const uint32_t t = ct::mod3(m_at_1);
    uint16_t quotient[P.n];
    uint32_t sum = 0;  // at most 4n; all sums are reduced afterwards
    for (size_t i = 0; i < P.n; ++i) {
      sum += m.c[i] + t;
      quotient[i] = static_cast<uint16_t>(sum);
    }
    static_assert(8 * P.n < (1u << 15));
    for (auto& x : quotient)
      x = ct::mod3(2u * x);
    poly_Z3_to_Zq<P>(quotient);
    for (size_t i = P.n - 1; i > 0; --i)
      out.c[i] = static_cast<uint16_t>(quotient[i - 1] - quotient[i]);
    out.c[0] = static_cast<uint16_t>(quotient[P.n - 1] - quotient[0]);
    zeroize(quotient, sizeof quotient);
  }
}

/// Centres the coefficients of a mod q around 0, then reduces them mod (3, Phi_n).
template <NtruParams P>
void poly_Rq_to_S3(Poly<P, S3>& out, const Poly<P, Rq>& a) {
  constexpr uint32_t kMinusQ = (3 - P.q() % 3) % 3;
  for (size_t i = 0; i < P.n; ++i) {
    const uint32_t x = a.c[i] & (P.q() - 1);
    out.c[i] = ct::mod3(x + kMinusQ * (x >> (P.logq - 1)));  // the upper half stands for x - q
  }
  poly_mod_3_Phi_n<P>(out.c);
}

/// Computes the ternary r from its residues a mod q. Returns all ones if a coefficient is none of 0, 1 and -1, else 0.
template <NtruParams P>
uint32_t recover_r(Poly<P, S3>& r, const Poly<P, Rq>& a) {
  uint32_t bad = 0;
  for (size_t i = 0; i < P.n; ++i) {
    const uint32_t x = a.c[i] & (P.q() - 1);
    bad |= (2u - ((x + 1) & (P.q() - 1))) >> 31;                     // x is not 0, 1 or q - 1
    r.c[i] = static_cast<uint16_t>((x & 1) << (x >> (P.logq - 1)));  // 1 -> 1, q - 1 -> 2
  }
  return ct::mask_nonzero(bad);
}

/// Returns all ones if m does not have weight/2 coefficients of each sign (HPS only), else 0.
template <NtruParams P>
uint32_t wrong_weight(const Poly<P, S3>& m) {
  if constexpr (P.variant == Variant::kHps) {
    uint32_t ones = 0, twos = 0;
    for (const auto x : m.c) {
      ones += x & 1u;
      twos += x >> 1;
    }
    return ct::mask_nonzero((ones ^ P.weight() / 2) | (twos ^ P.weight() / 2));
  } else {
    return 0;
  }
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::ntru::ref
