// SPDX-License-Identifier: Apache-2.0
// Sums of products of rows, a word at a time: what is fastest where vectors have no wide products.
#pragma once

#include "ckks/src/rows/rows.hpp"
#include "core/isa.hpp"

namespace polykem::ckks {
inline namespace POLYKEM_ISA {

/// Computes out_k = the sum of `count` products of pair(i, k).
template <class Pair>
POLYKEM_INLINE void sum_products(const Modulus& modulus, size_t n, size_t count, uint64_t* out, const Pair& pair) {
  const Modulus m = modulus;  // a copy, so that it stays in registers
  for (size_t k = 0; k < n; ++k) {
    Wide sum = 0;
    for (size_t i = 0; i < count; ++i) {
      const auto [a, b] = pair(i, k);
      sum += Wide{a} * b;
      if (i % 64 == 63) sum = m.reduce(sum);  // 64 (q - 1)^2 + q is below 2^128
    }
    out[k] = m.reduce(sum);
  }
}

struct Words2 {
  uint64_t a, b;
};

/// The same, with a loop for each of the usual counts.
template <class Pair>
POLYKEM_INLINE void sum_few_products(const Modulus& m, size_t n, size_t count, uint64_t* out, const Pair& pair) {
  switch (count) {
    case 1:
      return sum_products(m, n, 1, out, pair);
    case 2:
      return sum_products(m, n, 2, out, pair);
    case 3:
      return sum_products(m, n, 3, out, pair);
    default:
      return sum_products(m, n, count, out, pair);
  }
}

inline void multiply_words(const Modulus& m, size_t n, const uint64_t* const* a, const uint64_t* const* b, size_t count,
                           uint64_t* out) {
  sum_few_products(m, n, count, out, [=](size_t i, size_t k) { return Words2{a[i][k], b[i][k]}; });
}

inline void combine_words(const Modulus& m, size_t n, const uint64_t* a, unsigned /*a_bits*/, const uint64_t* b,
                          size_t count, uint64_t* out) {
  sum_few_products(m, n, count, out, [=](size_t i, size_t k) { return Words2{a[i * n + k], b[i]}; });
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::ckks
