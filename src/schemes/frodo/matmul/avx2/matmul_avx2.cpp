// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "prim/simd/vec16.hpp"
#include "schemes/frodo/matmul/lanes/rows.hpp"
#include "schemes/frodo/matmul/matmul.hpp"

namespace polykem {

namespace {

using matmul::Rows;
using simd::V16;

constexpr size_t kLanes = V16::kLanes;
constexpr size_t kRows = 4;
/// The part of a product that is computed at a time: some columns of kInnerBlock rows of b stay in the L1 cache, and
/// kRowBlock x kColumnBlock words of c in the L2 cache.
constexpr size_t kInnerBlock = 128, kRowBlock = 128, kColumnBlock = 1024;

/// One row of c, two registers wide or with the second one unused.
struct Sums {
  V16 first, second;
};

/// Computes kWidth registers of the rows i of c. Indices are template arguments: loops would keep the sums in memory.
template <size_t kWidth, size_t... i>
POLYKEM_INLINE void mul_add_block(Matrix16 c, ConstMatrix16 a, ConstMatrix16 b, size_t inner,
                                  std::index_sequence<i...>) {
  const auto load = [](const uint16_t* at) {
    return Sums{V16::load_unaligned(at), kWidth == 2 ? V16::load_unaligned(at + kLanes) : V16::zero()};
  };
  Sums sum[sizeof...(i)] = {load(c.row(i))...};
  const uint16_t* from = b.data;
  for (size_t k = 0; k < inner; ++k, from += b.stride) {
    const Sums row = load(from);
    const auto add = [&](Sums& s, uint16_t word) {
      const V16 factor = V16::set1(word);
      s.first = s.first + factor * row.first;
      if constexpr (kWidth == 2) s.second = s.second + factor * row.second;
    };
    (add(sum[i], a.row(i)[k]), ...);
  }
  ((sum[i].first.store_unaligned(c.row(i))), ...);
  if constexpr (kWidth == 2) ((sum[i].second.store_unaligned(c.row(i) + kLanes)), ...);
}

/// Computes kWidth registers of all rows of c.
template <size_t kWidth>
void mul_add_columns(Matrix16 c, ConstMatrix16 a, ConstMatrix16 b, size_t rows, size_t inner) {
  size_t i = 0;
  for (; i + kRows <= rows; i += kRows) {
    mul_add_block<kWidth>({c.row(i), c.stride}, {a.row(i), a.stride}, b, inner, std::make_index_sequence<kRows>());
  }
  for (; i < rows; ++i)
    mul_add_block<kWidth>({c.row(i), c.stride}, {a.row(i), a.stride}, b, inner, std::make_index_sequence<1>());
}

/// Computes a part of a product. 32 columns of its b fit the L1 cache.
void mul_add_part(Matrix16 c, ConstMatrix16 a, ConstMatrix16 b, const ProductShape& shape) {
  size_t j = 0;
  for (; j + 2 * kLanes <= shape.columns; j += 2 * kLanes)
    mul_add_columns<2>({c.data + j, c.stride}, a, {b.data + j, b.stride}, shape.rows, shape.inner);
  for (; j + kLanes <= shape.columns; j += kLanes)
    mul_add_columns<1>({c.data + j, c.stride}, a, {b.data + j, b.stride}, shape.rows, shape.inner);
  if (j < shape.columns) {
    kMatMulPortable.mul_add({c.data + j, c.stride}, a, {b.data + j, b.stride},
                            {.rows = shape.rows, .inner = shape.inner, .columns = shape.columns - j});
  }
}

/// Computes part by part, and adds all terms to one part of c before it begins the next.
void mul_add_single(Matrix16 c, ConstMatrix16 a, ConstMatrix16 b, const ProductShape& shape) {
  for (size_t j = 0; j < shape.columns; j += kColumnBlock) {
    for (size_t i = 0; i < shape.rows; i += kRowBlock) {
      for (size_t k = 0; k < shape.inner; k += kInnerBlock) {
        const ProductShape part{.rows = std::min(kRowBlock, shape.rows - i),
                                .inner = std::min(kInnerBlock, shape.inner - k),
                                .columns = std::min(kColumnBlock, shape.columns - j)};
        mul_add_part({c.row(i) + j, c.stride}, {a.row(i) + k, a.stride}, {b.row(k) + j, b.stride}, part);
      }
    }
  }
}

// ---- dot products

/// Adds product to sum. GCC 12 copies the sums of a loop around the intrinsic, and runs out of registers.
POLYKEM_INLINE void add_in_place(V16& sum, V16 product) {
  asm("vpaddw %1, %0, %0" : "+x"(sum.r) : "x"(product.r));
}

/// Returns, in each lane, the sum of the lanes of one of eight registers.
POLYKEM_INLINE __m128i sum_lanes(const V16 (&v)[8]) {
  const auto pairs = [](__m256i a, __m256i b) { return _mm256_hadd_epi16(a, b); };
  const __m256i first = pairs(pairs(v[0].r, v[1].r), pairs(v[2].r, v[3].r));
  const __m256i second = pairs(pairs(v[4].r, v[5].r), pairs(v[6].r, v[7].r));
  const __m256i sums = pairs(first, second);
  return _mm_add_epi16(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
}

constexpr size_t kDotRows = 2, kDotColumns = 4;

/// Computes a_i . b_j for two rows i and four rows j over whole registers of terms.
template <size_t... j>
POLYKEM_INLINE void dot_block(uint16_t (&out)[kDotRows][kDotColumns], const Rows<kDotRows>& a,
                              const Rows<kDotColumns>& b, size_t inner, std::index_sequence<j...>) {
  V16 sums[kDotRows * kDotColumns];
  ((sums[j] = sums[kDotColumns + j] = V16::zero()), ...);
  for (size_t k = 0; k < inner; k += kLanes) {
    const V16 x0 = V16::load_unaligned(a.at[0] + k), x1 = V16::load_unaligned(a.at[1] + k);
    const auto add = [&](V16& s0, V16& s1, const uint16_t* row) {
      V16 y = V16::load_unaligned(row);
      asm("" : "+x"(y.r));  // loaded once, not by each product
      add_in_place(s0, x0 * y);
      add_in_place(s1, x1 * y);
    };
    (add(sums[j], sums[kDotColumns + j], b.at[j] + k), ...);
  }
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), sum_lanes(sums));
}

void mul_add_transposed_single(Matrix16 c, ConstMatrix16 a, ConstMatrix16 b_transposed, const ProductShape& shape) {
  const size_t whole = shape.inner / kLanes * kLanes;
  for (size_t i = 0; i < shape.rows; i += kDotRows) {
    const Rows<kDotRows> left(a, i, shape.rows);
    for (size_t j = 0; j < shape.columns; j += kDotColumns) {
      uint16_t dots[kDotRows][kDotColumns];
      dot_block(dots, left, Rows<kDotColumns>(b_transposed, j, shape.columns), whole,
                std::make_index_sequence<kDotColumns>());
      for (size_t s = 0; s < std::min(kDotRows, shape.rows - i); ++s) {
        for (size_t t = 0; t < std::min(kDotColumns, shape.columns - j); ++t)
          c.row(i + s)[j + t] = static_cast<uint16_t>(c.row(i + s)[j + t] + dots[s][t]);
      }
    }
  }
  if (whole < shape.inner) {
    const ProductShape rest{.rows = shape.rows, .inner = shape.inner - whole, .columns = shape.columns};
    kMatMulPortable.mul_add_transposed(c, {a.data + whole, a.stride}, {b_transposed.data + whole, b_transposed.stride},
                                       rest);
  }
}

void mul_add(Matrix16 c, ConstMatrix16 a, ConstMatrix16 b, ProductShape shape) {
  for (size_t t = 0; t < shape.count; ++t)
    mul_add_single({c.data + t * shape.c_step, c.stride}, {a.data + t * shape.a_step, a.stride}, b, shape);
}

void mul_add_transposed(Matrix16 c, ConstMatrix16 a, ConstMatrix16 b_transposed, ProductShape shape) {
  for (size_t t = 0; t < shape.count; ++t) {
    mul_add_transposed_single({c.data + t * shape.c_step, c.stride}, {a.data + t * shape.a_step, a.stride},
                              b_transposed, shape);
  }
}

}  // namespace

const MatMulFunctions kMatMulAvx2 = {mul_add, mul_add_transposed};

}  // namespace polykem
