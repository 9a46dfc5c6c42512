// SPDX-License-Identifier: Apache-2.0
#include <arm_neon.h>

#include <algorithm>
#include <type_traits>

#include "core/unroll.hpp"
#include "prim/records/neon/tiles.hpp"
#include "prim/simd/isa.hpp"
#include "schemes/frodo/matmul/matmul.hpp"

namespace polykem {

namespace {

/// The number of words of a register. An instruction multiplies a register by a word of another one, and adds.
constexpr size_t kWords = 8;
/// The number of rows of c that mul_add computes at a time, two registers of each, and that mul_add_transposed
/// computes, one register of each.
constexpr size_t kRows = 8, kTransposedRows = 16;
/// The number of rows of b whose columns stay in the L1 cache while all rows of c use them.
constexpr size_t kInnerBlock = 128;

/// Adds to kHeight rows and sixteen columns of c the products with `inner` rows of b.
template <size_t kHeight>
void mul_add_block(Matrix16 c, ConstMatrix16 a, ConstMatrix16 b, size_t inner) {
  uint16x8_t first[kHeight], second[kHeight];
  unroll<kHeight>([&](auto i) __attribute__((always_inline)) {
    first[i] = vld1q_u16(c.row(i));
    second[i] = vld1q_u16(c.row(i) + kWords);
  });
  const uint16_t* from = b.data;
  size_t k = 0;
  for (; k + kWords <= inner; k += kWords) {
    uint16x8_t factors[kHeight];
    unroll<kHeight>([&](auto i) __attribute__((always_inline)) { factors[i] = vld1q_u16(a.row(i) + k); });
    unroll<kWords>([&](auto word) __attribute__((always_inline)) {
      const uint16x8_t x = vld1q_u16(from), y = vld1q_u16(from + kWords);
      from += b.stride;
      unroll<kHeight>([&](auto i) __attribute__((always_inline)) {
        first[i] = vmlaq_laneq_u16(first[i], x, factors[i], word);
        second[i] = vmlaq_laneq_u16(second[i], y, factors[i], word);
      });
    });
  }
  for (; k < inner; ++k, from += b.stride) {
    const uint16x8_t x = vld1q_u16(from), y = vld1q_u16(from + kWords);
    unroll<kHeight>([&](auto i) __attribute__((always_inline)) {
      first[i] = vmlaq_n_u16(first[i], x, a.row(i)[k]);
      second[i] = vmlaq_n_u16(second[i], y, a.row(i)[k]);
    });
  }
  unroll<kHeight>([&](auto i) __attribute__((always_inline)) {
    vst1q_u16(c.row(i), first[i]);
    vst1q_u16(c.row(i) + kWords, second[i]);
  });
}

void mul_add_part(Matrix16 c, ConstMatrix16 a, ConstMatrix16 b, size_t rows, size_t inner) {
  size_t i = 0;
  for (; i + kRows <= rows; i += kRows)
    mul_add_block<kRows>({c.row(i), c.stride}, {a.row(i), a.stride}, b, inner);
  for (; i < rows; ++i)
    mul_add_block<1>({c.row(i), c.stride}, {a.row(i), a.stride}, b, inner);
}

void mul_add_single(Matrix16 c, ConstMatrix16 a, ConstMatrix16 b, const ProductShape& shape) {
  const size_t whole = shape.columns / (2 * kWords) * (2 * kWords);
  for (size_t k = 0; k < shape.inner; k += kInnerBlock) {
    const size_t inner = std::min(kInnerBlock, shape.inner - k);
    for (size_t j = 0; j < whole; j += 2 * kWords)
      mul_add_part({c.data + j, c.stride}, {a.data + k, a.stride}, {b.row(k) + j, b.stride}, shape.rows, inner);
  }
  if (whole < shape.columns) {
    kMatMulPortable.mul_add({c.data + whole, c.stride}, a, {b.data + whole, b.stride},
                            {.rows = shape.rows, .inner = shape.inner, .columns = shape.columns - whole});
  }
}

void mul_add(Matrix16 c, ConstMatrix16 a, ConstMatrix16 b, ProductShape shape) {
  for (size_t t = 0; t < shape.count; ++t)
    mul_add_single({c.data + t * shape.c_step, c.stride}, {a.data + t * shape.a_step, a.stride}, b, shape);
}

/// Adds to kHeight rows and eight columns of c the products with the first `inner` columns, a multiple of 8, of eight
/// rows of b. Tiles of b are transposed on the way.
template <size_t kHeight>
void mul_add_transposed_block(Matrix16 c, ConstMatrix16 a, ConstMatrix16 b_transposed, size_t inner) {
  uint16x8_t sum[kHeight];
  unroll<kHeight>([&](auto i) __attribute__((always_inline)) { sum[i] = vld1q_u16(c.row(i)); });
  for (size_t k = 0; k < inner; k += kWords) {
    uint16x8_t tile[kWords];
    unroll<kWords>([&](auto j) __attribute__((always_inline)) { tile[j] = vld1q_u16(b_transposed.row(j) + k); });
    records::transpose8(tile);
    unroll<kHeight>([&](auto i) __attribute__((always_inline)) {
      const uint16x8_t factors = vld1q_u16(a.row(i) + k);
      unroll<kWords>([&](auto word) __attribute__((always_inline)) {
        sum[i] = vmlaq_laneq_u16(sum[i], tile[word], factors, word);
      });
    });
  }
  unroll<kHeight>([&](auto i) __attribute__((always_inline)) { vst1q_u16(c.row(i), sum[i]); });
}

void mul_add_transposed_single(Matrix16 c, ConstMatrix16 a, ConstMatrix16 b_transposed, const ProductShape& shape) {
  const size_t inner = shape.inner / kWords * kWords, columns = shape.columns / kWords * kWords;
  for (size_t j = 0; j < columns; j += kWords) {
    const auto block = [&](auto height, size_t i) {
      mul_add_transposed_block<height>({c.row(i) + j, c.stride}, {a.row(i), a.stride},
                                       {b_transposed.row(j), b_transposed.stride}, inner);
    };
    size_t i = 0;
    for (; i + kTransposedRows <= shape.rows; i += kTransposedRows)
      block(std::integral_constant<size_t, kTransposedRows>{}, i);
    for (; i + kTransposedRows / 2 <= shape.rows; i += kTransposedRows / 2)
      block(std::integral_constant<size_t, kTransposedRows / 2>{}, i);
    for (; i < shape.rows; ++i)
      block(std::integral_constant<size_t, 1>{}, i);
  }
  if (inner < shape.inner) {
    kMatMulPortable.mul_add_transposed(c, {a.data + inner, a.stride}, {b_transposed.data + inner, b_transposed.stride},
                                       {.rows = shape.rows, .inner = shape.inner - inner, .columns = columns});
  }
  if (columns < shape.columns) {
    kMatMulPortable.mul_add_transposed({c.data + columns, c.stride}, a,
                                       {b_transposed.row(columns), b_transposed.stride},
                                       {.rows = shape.rows, .inner = shape.inner, .columns = shape.columns - columns});
  }
}

void mul_add_transposed(Matrix16 c, ConstMatrix16 a, ConstMatrix16 b_transposed, ProductShape shape) {
  for (size_t t = 0; t < shape.count; ++t) {
    mul_add_transposed_single({c.data + t * shape.c_step, c.stride}, {a.data + t * shape.a_step, a.stride},
                              b_transposed, shape);
  }
}

}  // namespace

const MatMulFunctions kMatMulNeon = {mul_add, mul_add_transposed};

}  // namespace polykem
