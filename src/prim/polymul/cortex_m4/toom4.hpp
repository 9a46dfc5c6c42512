// SPDX-License-Identifier: Apache-2.0
// Toom and Cook's method with four parts, transposed for sliding products: seven products of a quarter of the size, at
// the points 0, 1, -1, 2, -2, 1/2 and infinity. [PC22]
//
// Let U_k be the sliding window of u from k quarters on, and S as in sliding.hpp. Part i of y is the sum over j of
// S(U_(i + j), v_j). Interpolation, transposed, makes X_p of the windows, and evaluation makes W_p of the parts of v;
// then part i of y is the sum over p of (coefficient i at point p) S(X_p, W_p). The denominators 4, 6, 18, 72, 120, 90
// and 2 of the X_p become factors 8 / 4, 8 / 6, .. of the W_p and a division of y by 8, so y is right mod 2^13 only.
//
// X_p has the coefficients of the polynomial that is zero at all points but p, which is x (x^2 - 1) (x^2 - 4) (2x - 1)
// without the factor of p.
#pragma once

#include "prim/polymul/cortex_m4/sliding.hpp"

namespace polykem::cortex_m4 {

constexpr size_t kPoints = 7;

/// Returns x^-1 mod 2^16 for odd x, by Newton's iteration.
constexpr uint16_t inverse_of_odd(uint32_t x) {
  uint32_t inverse = x;  // right mod 2^3
  for (int bits = 3; bits < 16; bits *= 2)
    inverse *= 2 - x * inverse;
  return static_cast<uint16_t>(inverse);
}

/// The operands of a product of 32 kWords coefficients and what becomes of them. The members of `points` take the place
/// of those of `operands`.
template <size_t kWords>
struct Toom4 {
  struct Operands {
    Word u[32 * kWords], v[16 * kWords];
  };
  struct Points {
    Word w[kPoints][4 * kWords];
    Quarters<kWords> quarters;
  };
  union {
    Operands operands;
    Points points;
    Word y[16 * kWords];
  };
  Word x[kPoints][8 * kWords];

  static_assert(sizeof(Points) <= sizeof(Operands) && sizeof(Points::w) <= sizeof(Operands::u));

  void combine_windows();
  void evaluate();
  void recombine();

  /// Sets y to the sliding product of u and v mod 2^13.
  void multiply() {
    combine_windows();
    evaluate();
    for (size_t p = 0; p < kPoints; ++p)
      sliding_quarters(x[p], points.w[p], points.quarters);
    recombine();
  }
};

template <size_t kWords>
void Toom4<kWords>::combine_windows() {
  constexpr size_t kPart = 4 * kWords;
  const auto less_four = [](Word a, Word b) { return sub(a, twice(twice(b))); };
  for (size_t k = 0; k < 2 * kPart; ++k) {
    const Word* u = operands.u + k;
    Word* out = x[0] + k;
    const Word t1 = u[kPart], t2 = u[2 * kPart], t3 = u[3 * kPart], t4 = u[4 * kPart], t5 = u[5 * kPart];
    const Word q2 = sub(t4, t2), two_q2 = twice(q2), three_q2 = add(two_q2, q2);  // x^2 - 1
    out[3 * 2 * kPart] = add(twice(sub(add(t5, t1), twice(t3))), three_q2);
    out[4 * 2 * kPart] = sub(add(two_q2, three_q2), twice(sub(t5, t1)));
    const Word r1 = less_four(t3, t1), r2 = less_four(t4, t2), r3 = less_four(t5, t3);  // x^2 - 4
    const Word r12 = sub(r1, r2), two_r3 = twice(r3);
    out[1 * 2 * kPart] = sub(r12, two_r3);
    out[2 * 2 * kPart] = add(r12, sub(two_r3, twice(r2)));
    const Word s1 = sub(r3, r1);  // (x^2 - 1) (x^2 - 4)
    out[5 * 2 * kPart] = s1;
    out[0] = sub(sub(r2, less_four(t2, u[0])), twice(s1));
    out[6 * 2 * kPart] = sub(twice(sub(less_four(u[6 * kPart], t4), r2)), s1);
  }
}

/// Computes the values of v's parts at each point p, times 8 over the denominator of point p.
template <size_t kWords>
void Toom4<kWords>::evaluate() {
  constexpr size_t kPart = 4 * kWords;
  for (size_t k = 0; k < kPart; ++k) {
    const Word* v = operands.v + k;
    Word* w = points.w[0] + k;
    const Word v0 = v[0], v1 = v[kPart], v2 = v[2 * kPart], v3 = v[3 * kPart];
    const Word two_v1 = twice(v1), four_v2 = twice(twice(v2)), four_v3 = twice(twice(v3));
    const Word even = add(v0, v2), odd = add(v1, v3);
    const Word even_at_2 = add(v0, four_v2), odd_at_2 = add(two_v1, twice(four_v3));
    const Word at_half = add(twice(twice(add(twice(v0), v1))), add(twice(v2), v3));
    w[0] = twice(v0);
    w[1 * kPart] = times(add(even, odd), static_cast<uint16_t>(4 * inverse_of_odd(3)));
    w[2 * kPart] = times(sub(even, odd), static_cast<uint16_t>(4 * inverse_of_odd(9)));
    w[3 * kPart] = times(add(even_at_2, odd_at_2), inverse_of_odd(9));
    w[4 * kPart] = times(sub(even_at_2, odd_at_2), inverse_of_odd(15));
    w[5 * kPart] = times(at_half, static_cast<uint16_t>(4 * inverse_of_odd(45)));
    w[6 * kPart] = four_v3;
  }
}

template <size_t kWords>
void Toom4<kWords>::recombine() {
  constexpr size_t kPart = 4 * kWords;
  const auto eighth = [](Word a) { return a >> 3 & 0x1fff1fff; };
  for (size_t k = 0; k < kPart; ++k) {
    const Word* z = x[0] + kPart + k;
    Word* out = y + k;
    const Word z1 = z[1 * 2 * kPart], z2 = z[2 * 2 * kPart], z3 = z[3 * 2 * kPart], z4 = z[4 * 2 * kPart];
    const Word half = z[5 * 2 * kPart], two_halves = twice(half), four_halves = twice(two_halves);
    const Word sum = add(z1, z2), difference = sub(z1, z2);
    const Word sum_at_2 = add(z3, z4), difference_at_2 = twice(sub(z3, z4));
    out[0] = eighth(add(add(z[0], twice(four_halves)), add(sum, sum_at_2)));
    out[kPart] = eighth(add(add(difference, difference_at_2), four_halves));
    out[2 * kPart] = eighth(add(add(sum, twice(twice(sum_at_2))), two_halves));
    out[3 * kPart] = eighth(add(add(difference, twice(twice(difference_at_2))), add(half, z[6 * 2 * kPart])));
  }
}

}  // namespace polykem::cortex_m4
