// SPDX-License-Identifier: Apache-2.0
// Sliding products: y[s] is the sum of u[s + j] v[j] over j < m, for s < m, mod 2^16. This is a Toeplitz matrix times a
// vector, and so also a product of polynomials mod x^n - 1. u has 2m coefficients, of which the last is not used.
//
// They are halved by Karatsuba's method, transposed. Let U0, U1, U2 be the sliding windows of u at 0, m/2 and m, and
// S(U, v) the sliding product of half the size. Then y = (S(U0, v0) + S(U1, v1), S(U1, v0) + S(U2, v1)), which is
// (p + S(U0 - U1, v0), p - S(U1 - U2, v1)) for p = S(U1, v0 + v1). [PC22]
#pragma once

#include "prim/polymul/cortex_m4/words.hpp"

namespace polykem::cortex_m4 {

/// Compute sliding products of 32, 44 and 52 coefficients by the definition: sliding_plain.S. y overlaps neither
/// operand.
extern "C" void polykem_sliding_plain_32(Word* y, const Word* u, const Word* v);
extern "C" void polykem_sliding_plain_44(Word* y, const Word* u, const Word* v);
extern "C" void polykem_sliding_plain_52(Word* y, const Word* u, const Word* v);

/// Returns the sliding product of kWords words of two coefficients, which are a quarter of an operand.
template <size_t kWords>
constexpr auto sliding_plain() {
  static_assert(kWords == 16 || kWords == 22 || kWords == 26);
  return kWords == 16 ? polykem_sliding_plain_32 : kWords == 22 ? polykem_sliding_plain_44 : polykem_sliding_plain_52;
}

/// The operands of the products that two levels of halving, taken at once, make of quarters of kWords words.
template <size_t kWords>
struct Quarters {
  Word e[4][kWords];  ///< e[i] = u[i + 1] - u[i + 3]
  Word f[3][kWords];  ///< f[i] = u[i + 2] - u[i + 3]
  Word g[5][kWords];  ///< the differences of neighbours among u[i] - u[i + 2]
  Word v01[kWords], v23[kWords], v02[kWords], v13[kWords], v0123[kWords];  ///< sums

  void combine_windows(const Word* windows) {
#pragma GCC unroll 2
    for (size_t k = 0; k < kWords; ++k) {
      const Word* u = windows + k;
      const Word u2 = u[2 * kWords], u3 = u[3 * kWords], u4 = u[4 * kWords], u5 = u[5 * kWords];
      const Word e0 = sub(u[0], u2), e1 = sub(u[kWords], u3), e2 = sub(u2, u4), e3 = sub(u3, u5);
      const Word e4 = sub(u4, u[6 * kWords]), e5 = sub(u5, u[7 * kWords]);
      f[0][k] = sub(u2, u3);
      f[1][k] = sub(u3, u4);
      f[2][k] = sub(u4, u5);
      e[0][k] = e1;
      e[1][k] = e2;
      e[2][k] = e3;
      e[3][k] = e4;
      g[0][k] = sub(e0, e1);
      g[1][k] = sub(e1, e2);
      g[2][k] = sub(e2, e3);
      g[3][k] = sub(e3, e4);
      g[4][k] = sub(e4, e5);
    }
  }

  void add_parts(const Word* parts) {
#pragma GCC unroll 2
    for (size_t k = 0; k < kWords; ++k) {
      const Word* v = parts + k;
      const Word v0 = v[0], v1 = v[kWords], v2 = v[2 * kWords], v3 = v[3 * kWords];
      const Word sum = add(v0, v2), other_sum = add(v1, v3);
      v01[k] = add(v0, v1);
      v23[k] = add(v2, v3);
      v02[k] = sum;
      v13[k] = other_sum;
      v0123[k] = add(sum, other_sum);
    }
  }
};

/// Computes the sliding product of 8 kWords coefficients; u has 8 kWords words. It takes the place of u's second half;
/// the first half is overwritten too.
template <size_t kWords>
void sliding_quarters(Word* u, const Word* v, Quarters<kWords>& q) {
  constexpr auto product = sliding_plain<kWords>();
  const auto quarter = [u](size_t i) { return u + i * kWords; };
  q.combine_windows(u);
  q.add_parts(v);
  product(quarter(0), quarter(3), q.v0123);
  product(quarter(1), q.f[0], q.v02);
  product(quarter(2), q.f[1], q.v13);
  product(quarter(3), q.e[0], q.v01);
  product(quarter(4), q.g[0], v);
  product(quarter(5), q.g[1], v + kWords);
  product(quarter(6), q.e[2], q.v23);
  product(quarter(7), q.g[2], v + 2 * kWords);
  product(q.f[0], q.g[3], v + 3 * kWords);
#pragma GCC unroll 2
  for (size_t k = 0; k < kWords; ++k) {
    Word* z = u + k;
    const Word p0 = add(z[0], z[kWords]), p1 = sub(z[0], z[2 * kWords]);
    const Word r0 = z[3 * kWords], r1 = z[6 * kWords];
    z[4 * kWords] = add(p0, add(r0, z[4 * kWords]));
    z[5 * kWords] = add(p1, sub(r0, z[5 * kWords]));
    z[6 * kWords] = sub(p0, add(r1, z[7 * kWords]));
    z[7 * kWords] = sub(p1, sub(r1, q.f[0][k]));
  }
}

}  // namespace polykem::cortex_m4
