// SPDX-License-Identifier: Apache-2.0
// Sliding products: y[s] = the sum of u[s + j] v[j] over j < m, for s < m, mod 2^16. A Toeplitz matrix times a vector,
// and so also a product of polynomials mod x^n - 1. u has 2m coefficients, of which the last is not used.
//
// Halves as Karatsuba does it, transposed: with U0, U1, U2 the sliding windows of u at 0, m/2 and m, and S(U, v) the
// sliding product of half the size, y = (S(U0, v0) + S(U1, v1), S(U1, v0) + S(U2, v1)), which is
// (p + S(U0 - U1, v0), p - S(U1 - U2, v1)) for p = S(U1, v0 + v1). [PC22]
#pragma once

#include "prim/polymul/cortex_m4/words.hpp"

namespace polykem::cortex_m4 {

/// out = a + b, kCount words; a multiple of 2.
template <size_t kCount>
void add_words(Word* out, const Word* a, const Word* b) {
#pragma GCC unroll 8
  for (size_t i = 0; i < kCount; ++i)
    out[i] = add(a[i], b[i]);
}

/// out = a - b.
template <size_t kCount>
void subtract_words(Word* out, const Word* a, const Word* b) {
#pragma GCC unroll 8
  for (size_t i = 0; i < kCount; ++i)
    out[i] = sub(a[i], b[i]);
}

/// The first half of y becomes p + y, the second p - y.
template <size_t kCount>
void add_to_both(Word* y, const Word* p) {
#pragma GCC unroll 8
  for (size_t i = 0; i < kCount; ++i) {
    const Word both = p[i];
    y[i] = add(both, y[i]);
    y[kCount + i] = sub(both, y[kCount + i]);
  }
}

/// Sliding products by the definition, of 32, 44 and 52 coefficients: sliding_plain.S.
extern "C" void polykem_sliding_plain_32(Word* y, const Word* u, const Word* v);
extern "C" void polykem_sliding_plain_44(Word* y, const Word* u, const Word* v);
extern "C" void polykem_sliding_plain_52(Word* y, const Word* u, const Word* v);

template <size_t kM>
inline constexpr auto kSlidingPlain = kM == 32   ? polykem_sliding_plain_32
                                      : kM == 44 ? polykem_sliding_plain_44
                                                 : polykem_sliding_plain_52;

/// Words of scratch memory that sliding<kM> needs.
template <size_t kM, size_t kBase>
constexpr size_t sliding_scratch() {
  return kM == kBase ? 0 : kM / 4 * 5 + sliding_scratch<(kM == kBase ? kM : kM / 2), kBase>();
}

/// The sliding product of kM = kBase 2^i coefficients. y overlaps neither operand.
template <size_t kM, size_t kBase>
void sliding(Word* y, const Word* u, const Word* v, Word* scratch) {
  if constexpr (kM == kBase) {
    static_assert(kM == 32 || kM == 44 || kM == 52);
    kSlidingPlain<kM>(y, u, v);
  } else {
    constexpr size_t kHalf = kM / 4;  // words
    Word* difference = scratch;       // u less u a half further on: 3 halves
    Word* p = scratch + 3 * kHalf;
    Word* sum = p + kHalf;
    Word* rest = sum + kHalf;
    add_words<kHalf>(sum, v, v + kHalf);
    sliding<kM / 2, kBase>(p, u + kHalf, sum, rest);
    subtract_words<3 * kHalf>(difference, u, u + kHalf);
    sliding<kM / 2, kBase>(y, difference, v, rest);
    sliding<kM / 2, kBase>(y + kHalf, difference + kHalf, v + kHalf, rest);
    add_to_both<kHalf>(y, p);
  }
}

}  // namespace polykem::cortex_m4
