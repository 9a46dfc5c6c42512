// SPDX-License-Identifier: Apache-2.0
#include "schemes/frodo/matmul/cortex_m4/matmul_m4.hpp"

#include <arm_acle.h>

#include <cstring>

namespace polykem::cortex_m4 {

namespace {

constexpr size_t kFrodo640 = 640;  ///< FrodoKEM-640's columns, a constant offset of loads and stores

/// Loads two neighbouring words.
uint32_t load(const uint16_t* words) {
  uint32_t pair;
  std::memcpy(&pair, words, sizeof pair);
  return pair;
}
void store(uint16_t* words, uint32_t pair) {
  std::memcpy(words, &pair, sizeof pair);
}

/// Returns sum plus the products of both halves.
uint32_t dot(uint32_t a, uint32_t b, uint32_t sum) {
  return static_cast<uint32_t>(
      __smlad(static_cast<int16x2_t>(a), static_cast<int16x2_t>(b), static_cast<int32_t>(sum)));
}

uint32_t lower_halves(uint32_t low, uint32_t high) {
  return (low & 0xffff) | high << 16;
}
uint32_t upper_halves(uint32_t low, uint32_t high) {
  return low >> 16 | (high & 0xffff0000);
}

/// Adds to two rows of c the products with four rows of b. kStride: that of b and of c.
template <size_t kStride>
void add_to_two_rows(uint16_t* c, const uint16_t* a0, const uint16_t* a1, const uint16_t* b, size_t columns) {
  const uint32_t a0_01 = load(a0), a0_23 = load(a0 + 2), a1_01 = load(a1), a1_23 = load(a1 + 2);
  for (const uint16_t* end = b + columns; b < end; b += 2, c += 2) {
    const uint32_t b0 = load(b), b1 = load(b + kStride), b2 = load(b + 2 * kStride), b3 = load(b + 3 * kStride);
    const uint32_t low01 = lower_halves(b0, b1), high01 = upper_halves(b0, b1);
    const uint32_t low23 = lower_halves(b2, b3), high23 = upper_halves(b2, b3);
    const uint32_t sum0 = load(c), sum1 = load(c + kStride);
    store(c,
          lower_halves(dot(a0_23, low23, dot(a0_01, low01, sum0)), dot(a0_23, high23, dot(a0_01, high01, sum0 >> 16))));
    store(c + kStride,
          lower_halves(dot(a1_23, low23, dot(a1_01, low01, sum1)), dot(a1_23, high23, dot(a1_01, high01, sum1 >> 16))));
  }
}

void mul_add(Matrix16 c, ConstMatrix16 a, ConstMatrix16 b, ProductShape shape) {
  for (size_t i = 0; i < shape.rows; i += 2)
    add_to_two_rows<kFrodo640>(c.row(i), a.row(i), a.row(i + 1), b.data, shape.columns);
}

/// Multiplies two rows of a by two of b at a time.
void mul_add_transposed(Matrix16 c, ConstMatrix16 a, ConstMatrix16 b_transposed, ProductShape shape) {
  for (size_t i = 0; i < shape.rows; i += 2) {
    for (size_t j = 0; j < shape.columns; j += 2) {
      const uint16_t *a0 = a.row(i), *a1 = a.row(i + 1), *b0 = b_transposed.row(j), *b1 = b_transposed.row(j + 1);
      uint32_t sum00 = 0, sum01 = 0, sum10 = 0, sum11 = 0;
#pragma GCC unroll 4
      for (size_t k = 0; k < shape.inner; k += 2) {
        const uint32_t x0 = load(a0 + k), x1 = load(a1 + k), y0 = load(b0 + k), y1 = load(b1 + k);
        sum00 = dot(x0, y0, sum00);
        sum01 = dot(x0, y1, sum01);
        sum10 = dot(x1, y0, sum10);
        sum11 = dot(x1, y1, sum11);
      }
      const uint32_t first = load(c.row(i) + j), second = load(c.row(i + 1) + j);
      store(c.row(i) + j, lower_halves(first + sum00, (first >> 16) + sum01));
      store(c.row(i + 1) + j, lower_halves(second + sum10, (second >> 16) + sum11));
    }
  }
}

}  // namespace

const MatMulFunctions kMatMul = {mul_add, mul_add_transposed};

}  // namespace polykem::cortex_m4
