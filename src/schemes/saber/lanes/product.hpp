// SPDX-License-Identifier: Apache-2.0
// Products modulo (2^13, x^256 + 1): Toom-4, two levels of Karatsuba, and 63 products of 16 by 16 coefficients, the
// leaves. All of it but the leaves' products is linear, so a sum of products is added up in its leaves and put together
// once, and what is multiplied several times is split once.
#pragma once

#include "core/secure.hpp"
#include "prim/polymul/lanes/toom_points.hpp"
#include "prim/polymul/lanes/transpose.hpp"
#include "schemes/saber/types.hpp"

namespace polykem::saber::lanes {
inline namespace POLYKEM_ISA {

using polymul::Toom4Points;
using polymul::unroll;
using simd::V16;
inline constexpr size_t kLanes = V16::kLanes;

inline constexpr size_t kLeaf = 16;                      ///< coefficients of a leaf
inline constexpr size_t kPoints = Toom4Points::kPoints;  ///< of Toom-4: four blocks of 64 coefficients
inline constexpr size_t kLeaves = 9 * kPoints;           ///< 9: of two levels of Karatsuba
inline constexpr size_t kSplitRows = kLeaves * kLeaf;    ///< a polynomial, split: row r of leaf i at i kLeaf + r
inline constexpr size_t kProductRows = 2 * kSplitRows;   ///< the leaves' products, 2 kLeaf rows each, the last zero
static_assert(16 - Toom4Points::kLostBits >= kQBits);

/// Splits one row: in(k, b) is row r of the 16 coefficients b of block k, out(i, value) takes row r of leaf i, i
/// ascending.
template <class In, class Out>
POLYKEM_INLINE void split_row(const In& in, const Out& out) {
  V16 e[4][kPoints];
  unroll<4>([&](auto b) __attribute__((always_inline)) {
    const V16 blocks[4] = {in(0, b), in(1, b), in(2, b), in(3, b)};
    Toom4Points::evaluate(e[b], blocks);
  });
  unroll<kPoints>([&](auto p) __attribute__((always_inline)) {
    const V16 even = e[0][p] + e[2][p], odd = e[1][p] + e[3][p];
    const V16 leaves[9] = {e[0][p],           e[1][p], e[2][p], e[3][p],   e[0][p] + e[1][p],
                           e[2][p] + e[3][p], even,    odd,     even + odd};
    unroll<9>([&](auto i) __attribute__((always_inline)) { out(9 * p + i, leaves[i]); });
  });
}

/// Blocks of the product of two pairs, from the products of low, high and sum: low and upper half each.
POLYKEM_INLINE void join_pair(V16 (&out)[4], const V16 (&low)[2], const V16 (&high)[2], const V16 (&sum)[2]) {
  const V16 difference = low[1] - high[0];
  out[0] = low[0];
  out[1] = sum[0] + (difference - low[0]);
  out[2] = (sum[1] - difference) - high[1];
  out[3] = high[1];
}

/// Row r of the eight blocks of 16 that point p's product has: product(i, half) is row r or 16 + r of leaf i.
template <size_t kPoint, class Product>
POLYKEM_INLINE void join_leaves(V16 (&out)[8], const Product& product) {
  V16 parts[3][4];  // low, high, sum of the pairs
  unroll<3>([&](auto k) __attribute__((always_inline)) {
    constexpr size_t kFirst[3] = {0, 2, 6}, kSum[3] = {4, 5, 8};
    constexpr size_t kAt = 9 * kPoint;
    const V16 low[2] = {product(kAt + kFirst[k], 0), product(kAt + kFirst[k], 1)};
    const V16 high[2] = {product(kAt + kFirst[k] + 1, 0), product(kAt + kFirst[k] + 1, 1)};
    const V16 sum[2] = {product(kAt + kSum[k], 0), product(kAt + kSum[k], 1)};
    join_pair(parts[k], low, high, sum);
  });
  unroll<2>([&](auto j) __attribute__((always_inline)) {
    const V16 difference = parts[0][2 + j] - parts[1][j];
    out[j] = parts[0][j];
    out[2 + j] = parts[2][j] + (difference - parts[0][j]);
    out[4 + j] = (parts[2][2 + j] - difference) - parts[1][2 + j];
    out[6 + j] = parts[1][2 + j];
  });
}

/// Puts one row of a product together: out(g, value) takes row r of the 16 coefficients g, g ascending. space: 8
/// kPoints vectors.
template <class Product, class Out>
POLYKEM_INLINE void join_row(const Product& product, const Out& out, V16* space) {
  unroll<kPoints>([&](auto p) __attribute__((always_inline)) {
    V16 blocks[8];
    join_leaves<p>(blocks, product);
    unroll<8>([&](auto m) __attribute__((always_inline)) { space[8 * p + m] = blocks[m]; });
  });
  polymul::forget_stored_values();
  unroll<8>([&](auto m) __attribute__((always_inline)) {
    V16 values[kPoints], w[kPoints];
    unroll<kPoints>([&](auto p) __attribute__((always_inline)) { values[p] = space[8 * p + m]; });
    Toom4Points::interpolate(w, values);
    unroll<kPoints>([&](auto p) __attribute__((always_inline)) { space[8 * p + m] = w[p]; });
  });
  polymul::forget_stored_values();
  // Coefficients 16 g .. of the linear product: block m of w[k] where 4 k + m == g. Those from 16 on are subtracted.
  const auto linear = [&](auto g) __attribute__((always_inline)) {
    constexpr size_t kG = g;
    V16 sum = V16::zero();
    if constexpr (kG / 4 < kPoints) sum = space[8 * (kG / 4) + kG % 4];
    if constexpr (kG >= 4) sum = sum + space[8 * (kG / 4 - 1) + kG % 4 + 4];
    return sum;
  };
  unroll<16>([&](auto g) __attribute__((always_inline)) {
    out(g, linear(g) - linear(std::integral_constant<size_t, g + 16>()));
  });
}

/// acc[i + k] += a(i) b(k), eight rows each.
template <class A, class B>
POLYKEM_INLINE void add_product8(V16 (&acc)[15], const A& a, const B& b) {
  V16 row[8];
  unroll<8>([&](auto k) __attribute__((always_inline)) { row[k] = b(k); });
  unroll<8>([&](auto i) __attribute__((always_inline)) {
    const V16 x = a(i);
    unroll<8>([&](auto k) __attribute__((always_inline)) { acc[i + k] = acc[i + k] + x * row[k]; });
  });
}

/// The sum over j < kTerms of eight rows of a times eight rows of b, to rows 0 to 14 of c.
template <size_t kTerms, class A, class B>
POLYKEM_INLINE void sum_products8(V16 (&acc)[15], const A& a, const B& b) {
  for (V16& x : acc)
    x = V16::zero();
#pragma GCC unroll 1
  for (size_t j = 0; j < kTerms; ++j) {
    add_product8(
        acc, [&](size_t i) __attribute__((always_inline)) { return a(j, i); },
        [&](size_t k) __attribute__((always_inline)) { return b(j, k); });
  }
}

/// One leaf of a sum of kTerms products, by one more level of Karatsuba: a(j, r) and b(j, r) are row r of term j.
/// c: 2 kLeaf rows.
template <size_t kTerms, class A, class B>
POLYKEM_INLINE void multiply_leaf(uint16_t* c, const A& a, const B& b) {
  constexpr size_t kHalf = kLeaf / 2;
  const auto upper = [](const auto& x) __attribute__((always_inline)) {
    return [&x](size_t j, size_t i) __attribute__((always_inline)) {
      return x(j, i + kHalf);
    };
  };
  const auto folded = [](const auto& x) __attribute__((always_inline)) {
    return [&x](size_t j, size_t i) __attribute__((always_inline)) {
      return x(j, i) + x(j, i + kHalf);
    };
  };
  V16 acc[15];
  sum_products8<kTerms>(acc, a, b);
  unroll<15>([&](auto k) __attribute__((always_inline)) { acc[k].store(c + k * kLanes); });
  sum_products8<kTerms>(acc, upper(a), upper(b));
  unroll<15>([&](auto k) __attribute__((always_inline)) { acc[k].store(c + (kLeaf + k) * kLanes); });
  V16::zero().store(c + (kLeaf - 1) * kLanes);
  V16::zero().store(c + (2 * kLeaf - 1) * kLanes);
  sum_products8<kTerms>(acc, folded(a), folded(b));
  polymul::forget_stored_values();
  V16 middle[15];
  unroll<15>([&](auto k) __attribute__((always_inline)) {
    middle[k] = acc[k] - (V16::load(c + k * kLanes) + V16::load(c + (kLeaf + k) * kLanes));
  });
  unroll<15>([&](auto k) __attribute__((always_inline)) {
    uint16_t* to = c + (kHalf + k) * kLanes;
    (V16::load(to) + middle[k]).store(to);
  });
}

/// c = the leaves of the sum over j < kTerms of a[j] s[j]: `count` leaves of split polynomials that follow each other,
/// kStep rows from one to the next.
template <size_t kTerms, size_t kStep = kSplitRows>
POLYKEM_NOINLINE void multiply_leaves(uint16_t* c, const uint16_t* a, const uint16_t* s, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const uint16_t *from = a + i * kLeaf * kLanes, *by = s + i * kLeaf * kLanes;
    multiply_leaf<kTerms>(
        c + 2 * i * kLeaf * kLanes,
        [&](size_t j, size_t r) __attribute__((always_inline)) { return V16::load(from + (j * kStep + r) * kLanes); },
        [&](size_t j, size_t r) __attribute__((always_inline)) { return V16::load(by + (j * kStep + r) * kLanes); });
  }
}

/// The same where a is the same for all lanes: one word for each row.
template <size_t kTerms>
POLYKEM_NOINLINE void multiply_leaves_shared(uint16_t* c, const uint16_t* a, const uint16_t* s) {
  for (size_t i = 0; i < kLeaves; ++i) {
    const uint16_t *from = a + i * kLeaf, *by = s + i * kLeaf * kLanes;
    multiply_leaf<kTerms>(
        c + 2 * i * kLeaf * kLanes,
        [&](size_t j, size_t r) __attribute__((always_inline)) { return V16::set1(from[j * kSplitRows + r]); },
        [&](size_t j, size_t r)
            __attribute__((always_inline)) { return V16::load(by + (j * kSplitRows + r) * kLanes); });
  }
}

/// Splits a block of polynomials, kN rows of kLanes words; `to`: kSplitRows rows.
POLYKEM_NOINLINE inline void split_block(uint16_t* to, const uint16_t* a) {
  for (size_t r = 0; r < kLeaf; ++r) {
    split_row(
        [&](size_t k, size_t b)
            __attribute__((always_inline)) { return V16::load(a + (k * 64 + b * kLeaf + r) * kLanes); },
        [&](size_t i, V16 value) __attribute__((always_inline)) { value.store(to + (i * kLeaf + r) * kLanes); });
  }
}

/// The inverse for products: kProductRows rows to a block of polynomials.
POLYKEM_NOINLINE inline void join_block(uint16_t* c, const uint16_t* products) {
  V16 space[8 * kPoints];
  for (size_t r = 0; r < kLeaf; ++r) {
    join_row(
        [&](size_t i, size_t half)
            __attribute__((always_inline)) { return V16::load(products + ((2 * i + half) * kLeaf + r) * kLanes); },
        [&](size_t g, V16 value) __attribute__((always_inline)) { value.store(c + (g * kLeaf + r) * kLanes); }, space);
  }
  secure_zero(space, sizeof space);
}

/// Sixteen words, in the lowest lanes.
POLYKEM_INLINE V16 load16(const uint16_t* p) {
#ifdef POLYKEM_ISA_AVX512
  return {_mm512_zextsi256_si512(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)))};
#else
  return V16::load_unaligned(p);
#endif
}
POLYKEM_INLINE void store16(uint16_t* p, V16 x) {
#ifdef POLYKEM_ISA_AVX512
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_castsi512_si256(x.r));
#else
  x.store_unaligned(p);
#endif
}

/// Splits one polynomial: kSplitRows words, leaf after leaf.
POLYKEM_NOINLINE inline void split_words(uint16_t* to, const uint16_t* a) {
  split_row(
      [&](size_t k, size_t b) __attribute__((always_inline)) { return load16(a + k * 64 + b * kLeaf); },
      [&](size_t i, V16 value) __attribute__((always_inline)) { store16(to + i * kLeaf, value); });
}

/// One item: a leaf in each lane, in groups of kLanes leaves.
struct OneProduct {
  static constexpr size_t kGroups = (kLeaves + kLanes - 1) / kLanes;
  static constexpr size_t kSplitWords = kGroups * kLeaf * kLanes;  ///< of a split polynomial
  static constexpr size_t kRows = kGroups * kLeaf;

  /// Memory of multiply(), which holds secrets afterwards.
  template <size_t kL>
  struct alignas(64) Space {
    uint16_t a[kL * kSplitWords], s[kL * kSplitWords];
    uint16_t words[kGroups * kLanes * kLeaf];  ///< leaves after each other; the last are not used
    uint16_t products[2 * kSplitWords], rows[2 * kSplitWords];
    V16 join[8 * kPoints];
  };

  static void split(uint16_t* to, const Poly& a, uint16_t* words) {
    split_words(words, a.c);
    for (size_t g = 0; g < kGroups; ++g)
      polymul::transpose_tile<kLeaf>(to + g * kLeaf * kLanes, kLanes, words + g * kLanes * kLeaf, kLeaf);
  }

  static void join(Poly& c, const uint16_t* products, uint16_t* rows, V16* space) {
    for (size_t g = 0; g < kGroups; ++g) {
      for (size_t at = 0; at < 2 * kLeaf; at += kLanes) {
        polymul::transpose_tile(rows + g * kLanes * 2 * kLeaf + at, 2 * kLeaf, products + (g * 2 * kLeaf + at) * kLanes,
                                kLanes);
      }
    }
    join_row(
        [&](size_t i, size_t half) __attribute__((always_inline)) { return load16(rows + (2 * i + half) * kLeaf); },
        [&](size_t g, V16 value) __attribute__((always_inline)) { store16(c.c + g * kLeaf, value); }, space);
  }

  /// See ref::PortablePrims.
  template <size_t kRowCount, size_t kL>
  static void multiply(Poly* out, const Poly* a, const Poly* s, Space<kL>& t) {
    for (size_t j = 0; j < kL; ++j)
      split(t.s + j * kSplitWords, s[j], t.words);
    for (size_t i = 0; i < kRowCount; ++i) {
      for (size_t j = 0; j < kL; ++j)
        split(t.a + j * kSplitWords, a[i * kL + j], t.words);
      multiply_leaves<kL, kRows>(t.products, t.a, t.s, kGroups);
      join(out[i], t.products, t.rows, t.join);
    }
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::saber::lanes
