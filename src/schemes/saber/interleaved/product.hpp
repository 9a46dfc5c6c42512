// SPDX-License-Identifier: Apache-2.0
// Products modulo (2^13, x^256 + 1): Toom-4, two levels of Karatsuba, and 63 products of 16 by 16 coefficients, the
// leaves. All of it but the products of leaves is linear, so a sum of products is added up in its leaves and joined
// once, and a polynomial that is multiplied several times is split once.
#pragma once

#include "core/secure.hpp"
#include "core/unroll.hpp"
#include "prim/polymul/lanes/toom_points.hpp"
#include "prim/polymul/lanes/transpose.hpp"
#include "schemes/saber/types.hpp"

namespace polykem::saber::interleaved {
inline namespace POLYKEM_ISA {

using polymul::Toom4Points;
using simd::V16;
inline constexpr size_t kLanes = V16::kLanes;

inline constexpr size_t kLeaf = 16;                      ///< coefficients of a leaf
inline constexpr size_t kBlock = 4 * kLeaf;              ///< coefficients of a block of Toom-4
inline constexpr size_t kPoints = Toom4Points::kPoints;  ///< points of Toom-4, which has four blocks
inline constexpr size_t kLeavesOfPoint = 9;              ///< leaves of a point, by two levels of Karatsuba
inline constexpr size_t kLeaves = kLeavesOfPoint * kPoints;
inline constexpr size_t kPointRows = kLeavesOfPoint * kLeaf;  ///< a point's rows: row r of leaf i is at i kLeaf + r
inline constexpr size_t kSplitRows = kLeaves * kLeaf;         ///< rows of the leaves of all points
inline constexpr size_t kValueRows = kPoints * kBlock;        ///< rows of a polynomial's values at the points
static_assert(16 - Toom4Points::kLostBits >= kQBits);

/// Splits four coefficients that are 16 apart into one coefficient of each leaf of a point.
POLYKEM_INLINE void split_point_row(V16 (&leaves)[kLeavesOfPoint], V16 x0, V16 x1, V16 x2, V16 x3) {
  leaves[0] = x0;
  leaves[1] = x1;
  leaves[2] = x2;
  leaves[3] = x3;
  leaves[4] = x0 + x1;
  leaves[5] = x2 + x3;
  leaves[6] = x0 + x2;
  leaves[7] = x1 + x3;
  leaves[8] = leaves[6] + leaves[7];
}

/// Joins one row of the product of two pairs of blocks from the products of their low blocks, of their high blocks and
/// of the sums of both. Each of these is given by its lower and its upper half.
POLYKEM_INLINE void join_pair(V16 (&out)[4], const V16 (&low)[2], const V16 (&high)[2], const V16 (&sum)[2]) {
  const V16 difference = low[1] - high[0];
  out[0] = low[0];
  out[1] = sum[0] + (difference - low[0]);
  out[2] = (sum[1] - difference) - high[1];
  out[3] = high[1];
}

/// Joins row r of the eight blocks of 16 rows of a point's product. product(i, half) is row 16 half + r of the product
/// of the point's leaf i.
template <class Product>
POLYKEM_INLINE void join_leaves(V16 (&out)[8], const Product& product) {
  V16 parts[3][4];  // the products of the low pairs, of the high pairs, of their sums
  unroll<3>([&](auto k) __attribute__((always_inline)) {
    constexpr size_t kFirst[3] = {0, 2, 6}, kSum[3] = {4, 5, 8};
    const V16 low[2] = {product(kFirst[k], 0), product(kFirst[k], 1)};
    const V16 high[2] = {product(kFirst[k] + 1, 0), product(kFirst[k] + 1, 1)};
    const V16 sum[2] = {product(kSum[k], 0), product(kSum[k], 1)};
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

/// Interpolates row r of the blocks of 16 coefficients of a product. value(p, m) is row r of block m of point p's
/// product; out(g, x) takes row r of block g, in ascending order of g. `space` has 8 kPoints vectors.
template <class Value, class Out>
POLYKEM_INLINE void interpolate_row(const Value& value, const Out& out, V16* space) {
  unroll<8>([&](auto m) __attribute__((always_inline)) {
    V16 values[kPoints], w[kPoints];
    unroll<kPoints>([&](auto p) __attribute__((always_inline)) { values[p] = value(p, m); });
    Toom4Points::interpolate(w, values);
    unroll<kPoints>([&](auto p) __attribute__((always_inline)) { space[8 * p + m] = w[p]; });
  });
  polymul::compiler_barrier();
  // Block g of the linear product is the sum of blocks m of w[k] with 4 k + m == g. Blocks from 16 on are subtracted.
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

/// Adds a(i) b(k) to acc[i + k], for eight rows of a and of b.
template <class A, class B>
POLYKEM_INLINE void add_product8(V16 (&acc)[15], const A& a, const B& b) {
  V16 row[8];
  unroll<8>([&](auto k) __attribute__((always_inline)) { row[k] = b(k); });
  unroll<8>([&](auto i) __attribute__((always_inline)) {
    const V16 x = a(i);
    unroll<8>([&](auto k) __attribute__((always_inline)) { acc[i + k] = acc[i + k] + x * row[k]; });
  });
}

/// Computes acc = the sum over j < kTerms of the product of eight rows a(j, i) and eight rows b(j, k).
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

/// Computes one leaf of a sum of kTerms products by one more level of Karatsuba. a(j, r) and b(j, r) are row r of the
/// factors of term j; c has 2 kLeaf rows.
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
  polymul::compiler_barrier();
  V16 middle[15];
  unroll<15>([&](auto k) __attribute__((always_inline)) {
    middle[k] = acc[k] - (V16::load(c + k * kLanes) + V16::load(c + (kLeaf + k) * kLanes));
  });
  unroll<15>([&](auto k) __attribute__((always_inline)) {
    uint16_t* to = c + (kHalf + k) * kLanes;
    (V16::load(to) + middle[k]).store(to);
  });
}

/// Computes c = the leaves of the sum over j < kTerms of a[j] s[j], for `count` leaves that follow each other. From one
/// term to the next are kStepA rows of a and kStepS rows of s.
template <size_t kTerms, size_t kStepA, size_t kStepS>
POLYKEM_NOINLINE void multiply_leaves(uint16_t* c, const uint16_t* a, const uint16_t* s, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const uint16_t *from = a + i * kLeaf * kLanes, *by = s + i * kLeaf * kLanes;
    multiply_leaf<kTerms>(
        c + 2 * i * kLeaf * kLanes,
        [&](size_t j, size_t r) __attribute__((always_inline)) { return V16::load(from + (j * kStepA + r) * kLanes); },
        [&](size_t j, size_t r) __attribute__((always_inline)) { return V16::load(by + (j * kStepS + r) * kLanes); });
  }
}

/// Computes c = the leaves of one point of the sum over j < kTerms of a[j] s[j], where a is the same for all lanes and
/// has one word for each row.
template <size_t kTerms>
POLYKEM_NOINLINE void multiply_leaves_shared(uint16_t* c, const uint16_t* a, const uint16_t* s) {
  for (size_t i = 0; i < kLeavesOfPoint; ++i) {
    const uint16_t *from = a + i * kLeaf, *by = s + i * kLeaf * kLanes;
    multiply_leaf<kTerms>(
        c + 2 * i * kLeaf * kLanes,
        [&](size_t j, size_t r) __attribute__((always_inline)) { return V16::set1(from[j * kSplitRows + r]); },
        [&](size_t j, size_t r)
            __attribute__((always_inline)) { return V16::load(by + (j * kSplitRows + r) * kLanes); });
  }
}

/// Evaluates interleaved polynomials, kN rows of kLanes words, at all points. The values at point p are the kBlock rows
/// from row p kBlock on.
POLYKEM_NOINLINE inline void evaluate_interleaved(uint16_t* values, const uint16_t* a) {
  for (size_t i = 0; i < kBlock; ++i) {
    V16 e[kPoints], blocks[Toom4Points::kBlocks];
    for (size_t k = 0; k < Toom4Points::kBlocks; ++k)
      blocks[k] = V16::load(a + (k * kBlock + i) * kLanes);
    Toom4Points::evaluate(e, blocks);
    unroll<kPoints>([&](auto p) __attribute__((always_inline)) { e[p].store(values + (p * kBlock + i) * kLanes); });
  }
}

/// Splits the values at one point into its leaves.
POLYKEM_NOINLINE inline void split_point(uint16_t* leaves, const uint16_t* values) {
  for (size_t r = 0; r < kLeaf; ++r) {
    const auto value = [&](size_t b) __attribute__((always_inline)) {
      return V16::load(values + (b * kLeaf + r) * kLanes);
    };
    V16 row[kLeavesOfPoint];
    split_point_row(row, value(0), value(1), value(2), value(3));
    for (size_t i = 0; i < kLeavesOfPoint; ++i)
      row[i].store(leaves + (i * kLeaf + r) * kLanes);
  }
}

/// Joins the product of one point, 2 kBlock rows, from the products of its leaves.
POLYKEM_NOINLINE inline void join_point(uint16_t* c, const uint16_t* products) {
  for (size_t r = 0; r < kLeaf; ++r) {
    V16 blocks[8];
    join_leaves(
        blocks, [&](size_t i, size_t half) __attribute__((always_inline)) {
          return V16::load(products + ((2 * i + half) * kLeaf + r) * kLanes);
        });
    for (size_t m = 0; m < 8; ++m)
      blocks[m].store(c + (m * kLeaf + r) * kLanes);
  }
}

/// Interpolates interleaved polynomials from the products of all points.
POLYKEM_NOINLINE inline void interpolate_interleaved(uint16_t* c, const uint16_t* products) {
  V16 space[8 * kPoints];
  for (size_t r = 0; r < kLeaf; ++r) {
    interpolate_row(
        [&](size_t p, size_t m)
            __attribute__((always_inline)) { return V16::load(products + ((8 * p + m) * kLeaf + r) * kLanes); },
        [&](size_t g, V16 value) __attribute__((always_inline)) { value.store(c + (g * kLeaf + r) * kLanes); }, space);
  }
  zeroize(space, sizeof space);
}

/// Computes sums of kL products of interleaved polynomials, one point after the other, so that the data of a point stay
/// in the nearest caches.
template <size_t kL>
class alignas(64) InterleavedProducts {
 public:
  /// Sets the second factor of product j in all sums that follow.
  void set_column(size_t j, const uint16_t* s) {
    evaluate_interleaved(values_, s);
    for (size_t p = 0; p < kPoints; ++p)
      split_point(column_ + (j * kSplitRows + p * kPointRows) * kLanes, values_ + p * kBlock * kLanes);
  }
  /// Sets the first factor of product j.
  void set_row(size_t j, const uint16_t* a) { evaluate_interleaved(values_ + j * kValueRows * kLanes, a); }

  /// Computes c = the sum of the products.
  void multiply(uint16_t* c) {
    for (size_t p = 0; p < kPoints; ++p) {
      for (size_t j = 0; j < kL; ++j)
        split_point(row_ + j * kPointRows * kLanes, values_ + (j * kValueRows + p * kBlock) * kLanes);
      multiply_leaves<kL, kPointRows, kSplitRows>(products_, row_, column_ + p * kPointRows * kLanes, kLeavesOfPoint);
      join_point(joined_ + 2 * p * kBlock * kLanes, products_);
    }
    interpolate_interleaved(c, joined_);
  }
  /// Computes c = the sum of the products of first factors that are the same for all items, in the form in which
  /// split_words() leaves them, and the second factors that were set.
  void multiply_shared(uint16_t* c, const uint16_t* words) {
    for (size_t p = 0; p < kPoints; ++p) {
      multiply_leaves_shared<kL>(products_, words + p * kPointRows, column_ + p * kPointRows * kLanes);
      join_point(joined_ + 2 * p * kBlock * kLanes, products_);
    }
    interpolate_interleaved(c, joined_);
  }

 private:
  uint16_t column_[kL * kSplitRows * kLanes];
  uint16_t values_[kL * kValueRows * kLanes];
  uint16_t row_[kL * kPointRows * kLanes];
  uint16_t products_[2 * kPointRows * kLanes];
  uint16_t joined_[2 * kValueRows * kLanes];
};

/// Loads sixteen words into the lowest lanes.
POLYKEM_INLINE V16 load16(const uint16_t* p) {
#ifdef POLYKEM_ISA_AVX512
  return {_mm512_zextsi256_si512(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)))};
#else
  return V16::load_unaligned(p);
#endif
}
/// Stores the sixteen words in the lowest lanes.
POLYKEM_INLINE void store16(uint16_t* p, V16 x) {
#ifdef POLYKEM_ISA_AVX512
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_castsi512_si256(x.r));
#else
  x.store_unaligned(p);
#endif
}

/// Splits one polynomial into kSplitRows words, leaf after leaf.
POLYKEM_NOINLINE inline void split_words(uint16_t* to, const uint16_t* a) {
  V16 e[4][kPoints];
  unroll<4>([&](auto b) __attribute__((always_inline)) {
    V16 blocks[Toom4Points::kBlocks];
    unroll<Toom4Points::kBlocks>([&](auto k) __attribute__((always_inline)) {
      blocks[k] = load16(a + k * kBlock + b * kLeaf);
    });
    Toom4Points::evaluate(e[b], blocks);
  });
  unroll<kPoints>([&](auto p) __attribute__((always_inline)) {
    V16 row[kLeavesOfPoint];
    split_point_row(row, e[0][p], e[1][p], e[2][p], e[3][p]);
    for (size_t i = 0; i < kLeavesOfPoint; ++i)
      store16(to + (p * kLeavesOfPoint + i) * kLeaf, row[i]);
  });
}

/// Products for one item, with a leaf in each lane, in groups of kLanes leaves.
struct SingleProduct {
  static constexpr size_t kGroups = (kLeaves + kLanes - 1) / kLanes;
  static constexpr size_t kSplitWords = kGroups * kLeaf * kLanes;  ///< words of a split polynomial
  static constexpr size_t kRows = kGroups * kLeaf;

  /// The working memory of multiply(), which holds secrets afterwards.
  template <size_t kL>
  struct alignas(64) Space {
    uint16_t a[kL * kSplitWords], s[kL * kSplitWords];
    uint16_t words[kGroups * kLanes * kLeaf];  ///< leaf after leaf; the last ones are not used
    uint16_t products[2 * kSplitWords], rows[2 * kSplitWords];
    V16 join[2 * 8 * kPoints];
  };

  static void split(uint16_t* to, const Poly& a, uint16_t* words) {
    split_words(words, a.c);
    for (size_t g = 0; g < kGroups; ++g)
      polymul::transpose_tile<kLanes, kLeaf, kLeaf>(to + g * kLeaf * kLanes, words + g * kLanes * kLeaf);
  }

  static void join(Poly& c, const uint16_t* products, uint16_t* rows, V16* space) {
    for (size_t g = 0; g < kGroups; ++g) {
      for (size_t at = 0; at < 2 * kLeaf; at += kLanes) {
        polymul::transpose_tile<2 * kLeaf, kLanes>(rows + g * kLanes * 2 * kLeaf + at,
                                                   products + (g * 2 * kLeaf + at) * kLanes);
      }
    }
    for (size_t p = 0; p < kPoints; ++p) {
      const uint16_t* of_point = rows + p * 2 * kPointRows;
      V16 blocks[8];
      join_leaves(
          blocks, [&](size_t i, size_t half)
                      __attribute__((always_inline)) { return load16(of_point + (2 * i + half) * kLeaf); });
      for (size_t m = 0; m < 8; ++m)
        space[8 * kPoints + 8 * p + m] = blocks[m];
    }
    interpolate_row(
        [&](size_t p, size_t m) __attribute__((always_inline)) { return space[8 * kPoints + 8 * p + m]; },
        [&](size_t g, V16 value) __attribute__((always_inline)) { store16(c.c + g * kLeaf, value); }, space);
  }

  /// Computes out[i] = the sum over j < kL of a[i kL + j] s[j] modulo (2^13, x^256 + 1) for i < kRowCount; bits above
  /// are arbitrary.
  template <size_t kRowCount, size_t kL>
  static void multiply(Poly* out, const Poly* a, const Poly* s, Space<kL>& t) {
    for (size_t j = 0; j < kL; ++j)
      split(t.s + j * kSplitWords, s[j], t.words);
    for (size_t i = 0; i < kRowCount; ++i) {
      for (size_t j = 0; j < kL; ++j)
        split(t.a + j * kSplitWords, a[i * kL + j], t.words);
      multiply_leaves<kL, kRows, kRows>(t.products, t.a, t.s, kGroups);
      join(out[i], t.products, t.rows, t.join);
    }
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::saber::interleaved
