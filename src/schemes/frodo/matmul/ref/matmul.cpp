// SPDX-License-Identifier: Apache-2.0
#include "schemes/frodo/matmul/matmul.hpp"

namespace polykem {

namespace {

void mul_add_row(uint16_t* sum, const uint16_t* a, ConstMatrix16 b, ProductShape shape) {
  for (size_t k = 0; k < shape.inner; ++k) {
    const uint16_t factor = a[k];
    const uint16_t* from = b.row(k);
    for (size_t j = 0; j < shape.columns; ++j)
      sum[j] = static_cast<uint16_t>(sum[j] + uint32_t{factor} * from[j]);
  }
}

void mul_add(Matrix16 c, ConstMatrix16 a, ConstMatrix16 b, ProductShape shape) {
  for (size_t t = 0; t < shape.count; ++t) {
    for (size_t i = 0; i < shape.rows; ++i)
      mul_add_row(c.row(i) + t * shape.c_step, a.row(i) + t * shape.a_step, b, shape);
  }
}

uint16_t dot(const uint16_t* a, const uint16_t* b, size_t inner) {
  uint32_t sum = 0;
  for (size_t k = 0; k < inner; ++k)
    sum += uint32_t{a[k]} * b[k];
  return static_cast<uint16_t>(sum);
}

void mul_add_transposed(Matrix16 c, ConstMatrix16 a, ConstMatrix16 b_transposed, ProductShape shape) {
  for (size_t t = 0; t < shape.count; ++t) {
    for (size_t i = 0; i < shape.rows; ++i) {
      uint16_t* sum = c.row(i) + t * shape.c_step;
      for (size_t j = 0; j < shape.columns; ++j)
        sum[j] = static_cast<uint16_t>(sum[j] + dot(a.row(i) + t * shape.a_step, b_transposed.row(j), shape.inner));
    }
  }
}

}  // namespace

const MatMulFunctions kMatMulPortable = {mul_add, mul_add_transposed};

}  // namespace polykem
