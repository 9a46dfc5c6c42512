// SPDX-License-Identifier: Apache-2.0
#include "prim/matmul/matmul.hpp"

namespace polykem {

namespace {

void mul_add(Matrix16 c, ConstMatrix16 a, ConstMatrix16 b, ProductShape shape) {
  for (size_t i = 0; i < shape.rows; ++i) {
    uint16_t* sum = c.row(i);
    for (size_t k = 0; k < shape.inner; ++k) {
      const uint16_t factor = a.row(i)[k];
      const uint16_t* from = b.row(k);
      for (size_t j = 0; j < shape.columns; ++j)
        sum[j] = static_cast<uint16_t>(sum[j] + uint32_t{factor} * from[j]);
    }
  }
}

void mul_add_transposed(Matrix16 c, ConstMatrix16 a, ConstMatrix16 b_transposed, ProductShape shape) {
  for (size_t i = 0; i < shape.rows; ++i) {
    for (size_t j = 0; j < shape.columns; ++j) {
      const uint16_t *left = a.row(i), *right = b_transposed.row(j);
      uint16_t sum = c.row(i)[j];
      for (size_t k = 0; k < shape.inner; ++k)
        sum = static_cast<uint16_t>(sum + uint32_t{left[k]} * right[k]);
      c.row(i)[j] = sum;
    }
  }
}

}  // namespace

const MatMul kMatMulPortable = {mul_add, mul_add_transposed};

}  // namespace polykem
