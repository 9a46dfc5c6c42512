// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "prim/matmul/matmul.hpp"
#include "prim/simd/vec16.hpp"

namespace polykem {

namespace {

using simd::V16;

constexpr size_t kLanes = V16::kLanes;
constexpr size_t kRows = 4, kRegisters = 2;
/// Rows of b that are used for all rows of a before the next ones: they stay in the L1 cache.
constexpr size_t kInnerBlock = 128;

/// kCount rows of c, kWidth registers wide.
template <size_t kCount, size_t kWidth>
POLYKEM_INLINE void mul_add_block(Matrix16 c, ConstMatrix16 a, ConstMatrix16 b, size_t inner) {
  V16 sum[kCount][kWidth];
#pragma GCC unroll 8
  for (size_t i = 0; i < kCount; ++i) {
#pragma GCC unroll 4
    for (size_t j = 0; j < kWidth; ++j)
      sum[i][j] = V16::load_unaligned(c.row(i) + j * kLanes);
  }
  const uint16_t* from = b.data;
  for (size_t k = 0; k < inner; ++k, from += b.stride) {
    V16 row[kWidth];
#pragma GCC unroll 4
    for (size_t j = 0; j < kWidth; ++j)
      row[j] = V16::load_unaligned(from + j * kLanes);
#pragma GCC unroll 8
    for (size_t i = 0; i < kCount; ++i) {
      const V16 factor = V16::set1(a.row(i)[k]);
#pragma GCC unroll 4
      for (size_t j = 0; j < kWidth; ++j)
        sum[i][j] = sum[i][j] + factor * row[j];
    }
  }
#pragma GCC unroll 8
  for (size_t i = 0; i < kCount; ++i) {
#pragma GCC unroll 4
    for (size_t j = 0; j < kWidth; ++j)
      sum[i][j].store_unaligned(c.row(i) + j * kLanes);
  }
}

/// kCount rows of c.
template <size_t kCount>
void mul_add_rows(Matrix16 c, ConstMatrix16 a, ConstMatrix16 b, size_t inner, size_t columns) {
  size_t j = 0;
  for (; j + kRegisters * kLanes <= columns; j += kRegisters * kLanes)
    mul_add_block<kCount, kRegisters>({c.data + j, c.stride}, a, {b.data + j, b.stride}, inner);
  for (; j + kLanes <= columns; j += kLanes)
    mul_add_block<kCount, 1>({c.data + j, c.stride}, a, {b.data + j, b.stride}, inner);
  if (j < columns)
    kMatMulPortable.mul_add({c.data + j, c.stride}, a, {b.data + j, b.stride},
                            {.rows = kCount, .inner = inner, .columns = columns - j});
}

void mul_add_one(Matrix16 c, ConstMatrix16 a, ConstMatrix16 b, ProductShape shape) {
  for (size_t k = 0; k < shape.inner; k += kInnerBlock) {
    const size_t inner = std::min(kInnerBlock, shape.inner - k);
    const ConstMatrix16 part{b.row(k), b.stride};
    size_t i = 0;
    for (; i + kRows <= shape.rows; i += kRows)
      mul_add_rows<kRows>({c.row(i), c.stride}, {a.row(i) + k, a.stride}, part, inner, shape.columns);
    for (; i < shape.rows; ++i)
      mul_add_rows<1>({c.row(i), c.stride}, {a.row(i) + k, a.stride}, part, inner, shape.columns);
  }
}

// ---- dot products

/// The sum of all lanes.
POLYKEM_INLINE uint16_t sum_lanes(V16 v) {
  const __m256i pairs = _mm256_madd_epi16(v.r, _mm256_set1_epi16(1));
  __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(pairs), _mm256_extracti128_si256(pairs, 1));
  sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0x4e));
  sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0xb1));
  return static_cast<uint16_t>(_mm_cvtsi128_si32(sum));
}

/// kDotRows x kDotColumns entries of c, whole registers of terms.
template <size_t kDotRows, size_t kDotColumns>
POLYKEM_INLINE void dot_block(Matrix16 c, ConstMatrix16 a, ConstMatrix16 b, size_t inner) {
  V16 sum[kDotRows][kDotColumns];
  for (auto& row : sum) {
    for (V16& s : row)
      s = V16::zero();
  }
  for (size_t k = 0; k < inner; k += kLanes) {
    V16 left[kDotRows];
#pragma GCC unroll 4
    for (size_t i = 0; i < kDotRows; ++i)
      left[i] = V16::load_unaligned(a.row(i) + k);
#pragma GCC unroll 4
    for (size_t j = 0; j < kDotColumns; ++j) {
      const V16 right = V16::load_unaligned(b.row(j) + k);
#pragma GCC unroll 4
      for (size_t i = 0; i < kDotRows; ++i)
        sum[i][j] = sum[i][j] + left[i] * right;
    }
  }
  for (size_t i = 0; i < kDotRows; ++i) {
    for (size_t j = 0; j < kDotColumns; ++j)
      c.row(i)[j] = static_cast<uint16_t>(c.row(i)[j] + sum_lanes(sum[i][j]));
  }
}

constexpr size_t kDot = 4;

template <size_t kDotRows>
void dot_rows(Matrix16 c, ConstMatrix16 a, ConstMatrix16 b, size_t inner, size_t columns) {
  size_t j = 0;
  for (; j + kDot <= columns; j += kDot)
    dot_block<kDotRows, kDot>({c.data + j, c.stride}, a, {b.row(j), b.stride}, inner);
  for (; j < columns; ++j)
    dot_block<kDotRows, 1>({c.data + j, c.stride}, a, {b.row(j), b.stride}, inner);
}

void mul_add_transposed_one(Matrix16 c, ConstMatrix16 a, ConstMatrix16 b_transposed, ProductShape shape) {
  const size_t whole = shape.inner / kLanes * kLanes;
  size_t i = 0;
  for (; i + 2 <= shape.rows; i += 2)
    dot_rows<2>({c.row(i), c.stride}, {a.row(i), a.stride}, b_transposed, whole, shape.columns);
  for (; i < shape.rows; ++i)
    dot_rows<1>({c.row(i), c.stride}, {a.row(i), a.stride}, b_transposed, whole, shape.columns);
  if (whole < shape.inner) {
    kMatMulPortable.mul_add_transposed(c, {a.data + whole, a.stride}, {b_transposed.data + whole, b_transposed.stride},
                                       {.rows = shape.rows, .inner = shape.inner - whole, .columns = shape.columns});
  }
}

void mul_add(Matrix16 c, ConstMatrix16 a, ConstMatrix16 b, ProductShape shape) {
  for (size_t t = 0; t < shape.count; ++t)
    mul_add_one({c.data + t * shape.c_step, c.stride}, {a.data + t * shape.a_step, a.stride}, b, shape);
}

void mul_add_transposed(Matrix16 c, ConstMatrix16 a, ConstMatrix16 b_transposed, ProductShape shape) {
  for (size_t t = 0; t < shape.count; ++t) {
    mul_add_transposed_one({c.data + t * shape.c_step, c.stride}, {a.data + t * shape.a_step, a.stride}, b_transposed,
                           shape);
  }
}

}  // namespace

const MatMul kMatMulAvx2 = {mul_add, mul_add_transposed};

}  // namespace polykem
