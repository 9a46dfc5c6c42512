// SPDX-License-Identifier: Apache-2.0
// The number-theoretic transform of Z_q[x]/(x^256 + 1), one polynomial at a time. [FIPS204, 7.5]
#pragma once

#include "schemes/mldsa/modulus.hpp"
#include "schemes/mldsa/types.hpp"
#if defined(POLYKEM_ISA_AVX512) || defined(POLYKEM_ISA_AVX2)
#include "schemes/mldsa/lanes/ntt.hpp"
#endif

namespace polykem::mldsa {
inline namespace POLYKEM_ISA {

#if defined(POLYKEM_ISA_AVX512) || defined(POLYKEM_ISA_AVX2)

using lanes::inverse_ntt;
using lanes::multiply;
using lanes::ntt;

#else

/// Transforms a polynomial in place; |c| < q before, |c| < 9 q after. [FIPS204, Alg 41]
inline void ntt(Poly& a) {
  size_t next = 1;
  for (size_t length = 128; length >= 1; length /= 2) {
    for (size_t start = 0; start < kN; start += 2 * length) {
      const int64_t zeta = kZetas[next++];
      for (size_t j = start; j < start + length; ++j) {
        const int32_t t = montgomery(zeta * a.c[j + length]);
        a.c[j + length] = a.c[j] - t;
        a.c[j] += t;
      }
    }
  }
}

/// Transforms a Montgomery product back in place and removes its factor; |c| < q before and after. [FIPS204, Alg 42]
inline void inverse_ntt(Poly& a) {
  size_t next = 255;
  for (size_t length = 1; length <= 128; length *= 2) {
    for (size_t start = 0; start < kN; start += 2 * length) {
      const int64_t zeta = -kZetas[next--];
      for (size_t j = start; j < start + length; ++j) {
        const int32_t t = a.c[j];  // below 256 q < 2^31 at the end
        a.c[j] = t + a.c[j + length];
        a.c[j + length] = montgomery(zeta * (t - a.c[j + length]));
      }
    }
  }
  for (int32_t& c : a.c)
    c = montgomery(int64_t{kInverse256} * c);
}

/// Computes out = the sum over i < terms <= 7 of a[i] b[i] / 2^32, coefficient by coefficient.
/// a is in [0, q), |b| < 9 q, and |out| < q. [FIPS204, Alg 45, Alg 48]
inline void multiply(Poly& out, const Poly* a, const Poly* b, size_t terms) {
  for (size_t j = 0; j < kN; ++j) {
    int64_t sum = 0;  // below 63 q^2 < 2^29 q
    for (size_t i = 0; i < terms; ++i)
      sum += int64_t{a[i].c[j]} * b[i].c[j];
    out.c[j] = montgomery(sum);
  }
}

#endif

}  // namespace POLYKEM_ISA
}  // namespace polykem::mldsa
