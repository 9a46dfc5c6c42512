// SPDX-License-Identifier: Apache-2.0
// Toom and Cook's method with four parts, transposed for sliding products: seven products of a quarter of the size, at
// the points 0, 1, -1, 2, -2, 1/2 and infinity. [PC22]
//
// With U_k the sliding window of u from k quarters on and S as in sliding.hpp, part i of y is the sum over j of
// S(U_(i + j), v_j). Interpolation, transposed, makes X_p of the windows, evaluation W_p of the parts of v; then part i
// of y is the sum over p of (coefficient i at point p) S(X_p, W_p). The denominators 4, 6, 18, 72, 120, 90 and 2 of the
// X_p become factors 8 / 4, 8 / 6, .. of the W_p, and a division of y by 8: so y is right mod 2^13 only.
#pragma once

#include "prim/polymul/cortex_m4/sliding.hpp"

namespace polykem::cortex_m4 {

constexpr size_t kPoints = 7;

inline Word twice(Word x) {
  return add(x, x);
}

/// x^-1 mod 2^16 for odd x, by Newton's iteration.
constexpr uint16_t inverse_of_odd(uint32_t x) {
  uint32_t inverse = x;  // right mod 2^3
  for (int bits = 3; bits < 16; bits *= 2)
    inverse *= 2 - x * inverse;
  return static_cast<uint16_t>(inverse);
}

/// Both halves of x times `factor`.
inline Word times(Word x, uint16_t factor) {
  return ((x * factor) & 0xffff) | ((x >> 16) * factor) << 16;
}

/// x[p] = the windows' combination at point p, each of 2 kWords; u has 8 kWords.
template <size_t kWords>
void combine_windows(Word* x, const Word* u) {
  for (size_t k = 0; k < 2 * kWords; ++k, ++u, ++x) {
    const Word t1 = u[kWords], t2 = u[2 * kWords], t3 = u[3 * kWords], t4 = u[4 * kWords], t5 = u[5 * kWords];
    const Word four_t1 = twice(twice(t1)), two_t3 = twice(t3), four_t3 = twice(two_t3), four_t2 = twice(twice(t2));
    const Word five_t3 = add(four_t3, t3);
    const Word half = add(sub(four_t1, five_t3), t5);
    x[5 * 2 * kWords] = half;
    x[0] = sub(add(sub(twice(twice(u[0])), add(four_t2, t2)), t4), twice(half));
    const Word five_t4 = add(twice(twice(t4)), t4);
    x[6 * 2 * kWords] = sub(twice(add(sub(four_t2, five_t4), u[6 * kWords])), half);
    const Word difference = sub(t2, t4), two_differences = twice(difference);
    x[4 * 2 * kWords] = sub(twice(sub(t1, t5)), add(twice(two_differences), difference));
    x[3 * 2 * kWords] = sub(twice(sub(add(t1, t5), two_t3)), add(two_differences, difference));
    const Word even = sub(four_t2, t4), two_t5 = twice(t5);
    x[1 * 2 * kWords] = add(sub(add(four_t3, five_t3), add(four_t1, two_t5)), even);
    x[2 * 2 * kWords] = add(sub(two_t5, add(four_t1, sub(add(four_t3, four_t3), t3))), add(twice(even), even));
  }
}

/// w[p] = v at point p, times 8 over the denominator of point p; kWords each.
template <size_t kWords>
void evaluate(Word* w, const Word* v) {
  for (size_t k = 0; k < kWords; ++k, ++v, ++w) {
    const Word v0 = v[0], v1 = v[kWords], v2 = v[2 * kWords], v3 = v[3 * kWords];
    const Word two_v1 = twice(v1), four_v2 = twice(twice(v2)), four_v3 = twice(twice(v3));
    const Word even = add(v0, v2), odd = add(v1, v3);
    const Word even_at_2 = add(v0, four_v2), odd_at_2 = add(two_v1, twice(four_v3));
    const Word at_half = add(twice(twice(add(twice(v0), v1))), add(twice(v2), v3));
    w[0] = twice(v0);
    w[1 * kWords] = times(add(even, odd), static_cast<uint16_t>(4 * inverse_of_odd(3)));
    w[2 * kWords] = times(sub(even, odd), static_cast<uint16_t>(4 * inverse_of_odd(9)));
    w[3 * kWords] = times(add(even_at_2, odd_at_2), inverse_of_odd(9));
    w[4 * kWords] = times(sub(even_at_2, odd_at_2), inverse_of_odd(15));
    w[5 * kWords] = times(at_half, static_cast<uint16_t>(4 * inverse_of_odd(45)));
    w[6 * kWords] = four_v3;
  }
}

/// y from the products z[p], kWords each.
template <size_t kWords>
void recombine(Word* y, const Word* const (&z)[kPoints]) {
  const auto eighth = [](Word x) { return x >> 3 & 0x1fff1fff; };
  for (size_t k = 0; k < kWords; ++k, ++y) {
    const Word half = z[5][k];
    const Word sum = add(z[1][k], z[2][k]), difference = sub(z[1][k], z[2][k]);
    const Word sum_at_2 = add(z[3][k], z[4][k]), difference_at_2 = twice(sub(z[3][k], z[4][k]));
    const Word two_halves = twice(half), four_halves = twice(two_halves);
    y[0] = eighth(add(add(z[0][k], twice(four_halves)), add(sum, sum_at_2)));
    y[kWords] = eighth(add(add(difference, difference_at_2), four_halves));
    y[2 * kWords] = eighth(add(add(sum, twice(twice(sum_at_2))), two_halves));
    y[3 * kWords] = eighth(add(add(difference, twice(twice(difference_at_2))), add(half, z[6][k])));
  }
}

/// Words of scratch memory that sliding_toom4<kM> needs.
template <size_t kM, size_t kBase>
constexpr size_t toom4_scratch() {
  return 15 * (kM / 8) + sliding_scratch<kM / 4, kBase>();
}

/// The sliding product of kM coefficients mod 2^13. u is overwritten; y overlaps neither operand.
template <size_t kM, size_t kBase>
void sliding_toom4(Word* y, Word* u, const Word* v, Word* scratch) {
  constexpr size_t kWords = kM / 8;  // of a part
  Word* w = u;                       // when the windows have been combined
  Word* z = scratch;                 // each product takes the place of windows that have been multiplied
  Word* x = z + kWords;
  Word* rest = x + 2 * kPoints * kWords;
  combine_windows<kWords>(x, u);
  evaluate<kWords>(w, v);
  for (size_t p = 0; p < kPoints; ++p)
    sliding<kM / 4, kBase>(z + 2 * p * kWords, x + 2 * p * kWords, w + p * kWords, rest);
  recombine<kWords>(
      y, {z, z + 2 * kWords, z + 4 * kWords, z + 6 * kWords, z + 8 * kWords, z + 10 * kWords, z + 12 * kWords});
}

}  // namespace polykem::cortex_m4
