// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "schemes/frodo/matmul/matmul.hpp"
#include "support/isa.hpp"
#include "support/words.hpp"

namespace polykem {
namespace {

using test::Fill;
using test::Words;

/// A product in memory that begins at an odd multiple of two bytes, between other words.
struct Problem {
  ProductShape shape;
  size_t c_stride, a_stride, b_stride;
  Words c, a, b;

  Problem(ProductShape s, bool transposed, const Fill& fill, const Fill& fill_small)
      : shape(s),
        c_stride(s.columns + 3),
        a_stride(s.inner + 1),
        b_stride((transposed ? s.inner : s.columns) + 2),
        c(test::filled(s.count * s.rows * c_stride + 7, fill)),
        a(test::filled(s.count * s.rows * a_stride + 7, fill_small)),
        b(test::filled((transposed ? s.columns : s.inner) * b_stride + 7, fill)) {
    shape.c_step = s.rows * c_stride;
    shape.a_step = s.rows * a_stride;
  }

  /// Returns c after the product.
  Words result(void (*product)(Matrix16, ConstMatrix16, ConstMatrix16, ProductShape)) const {
    Words out = c;
    product({out.data() + 1, c_stride}, {a.data() + 1, a_stride}, {b.data() + 1, b_stride}, shape);
    return out;
  }
};

/// Computes the product by definition, word by word.
Words expected(const Problem& p, bool transposed) {
  Words out = p.c;
  for (size_t t = 0; t < p.shape.count; ++t) {
    for (size_t i = 0; i < p.shape.rows; ++i) {
      for (size_t j = 0; j < p.shape.columns; ++j) {
        uint32_t sum = 0;
        for (size_t k = 0; k < p.shape.inner; ++k) {
          const uint16_t b = transposed ? p.b[1 + j * p.b_stride + k] : p.b[1 + k * p.b_stride + j];
          sum += uint32_t{p.a[1 + t * p.shape.a_step + i * p.a_stride + k]} * b;
        }
        uint16_t& c = out[1 + t * p.shape.c_step + i * p.c_stride + j];
        c = static_cast<uint16_t>(c + sum);
      }
    }
  }
  return out;
}

const std::vector<ProductShape> kShapes = {
    {.rows = 8, .inner = 64, .columns = 976},
    {.rows = 8, .inner = 16, .columns = 1344, .count = 3},
    {.rows = 8, .inner = 300, .columns = 70, .count = 19},
    {.rows = 16, .inner = 131, .columns = 33, .count = 2},
    {.rows = 64, .inner = 976, .columns = 8},
    {.rows = 8, .inner = 976, .columns = 8},
    {.rows = 8, .inner = 1344, .columns = 8, .count = 2},
    {.rows = 1, .inner = 1, .columns = 1},
    {.rows = 3, .inner = 7, .columns = 5},
    {.rows = 9, .inner = 33, .columns = 17},
    {.rows = 7, .inner = 130, .columns = 31, .count = 2},
    {.rows = 40, .inner = 257, .columns = 96},
};

void compare(const MatMulFunctions& matmul, const Fill& fill, const Fill& fill_small) {
  for (const ProductShape& shape : kShapes) {
    for (const bool transposed : {false, true}) {
      const Problem problem(shape, transposed, fill, fill_small);
      EXPECT_EQ(problem.result(transposed ? matmul.mul_add_transposed : matmul.mul_add), expected(problem, transposed))
          << shape.rows << " x " << shape.inner << " x " << shape.columns << (transposed ? ", transposed" : "");
    }
  }
}

void compare_all(const MatMulFunctions& matmul) {
  test::Noise noise(3);
  const Fill any = test::any_words(noise);
  const Fill small = test::small_words(noise);
  compare(matmul, any, small);
  compare(matmul, any, any);
  for (const int extreme : {0, 1, 0x7fff, 0x8000, 0xffff}) {
    const Fill constant = test::constant_words(extreme);
    compare(matmul, constant, constant);
    compare(matmul, any, constant);
  }
}

TEST(MatMulPortable, IsTheDefinition) {
  compare_all(kMatMulPortable);
}

#ifdef __x86_64__
TEST(MatMulForms, BothAreTheDefinition) {
  if (!test::cpu_has(test::Isa::kAvx512)) GTEST_SKIP() << "this CPU has no avx512";
  compare_all(kMatMulFormsAvx512.saving);
  compare_all(kMatMulFormsAvx512.plain);
}
#endif

class MatMulTest : public test::IsaTest {};

TEST_P(MatMulTest, IsTheDefinition) {
  compare_all(POLYKEM_TABLE(kMatMul));
}

TEST_P(MatMulTest, SingleWords) {
  const MatMulFunctions& matmul = POLYKEM_TABLE(kMatMul);
  constexpr size_t kInner = 70, kColumns = 66;
  for (size_t at = 0; at < kInner; ++at) {
    const Fill zero = test::constant_words(0);
    Problem problem({.rows = 8, .inner = kInner, .columns = kColumns, .count = 2}, false, zero, zero);
    problem.a[1 + 3 * problem.a_stride + at] = 5;
    problem.b[1 + at * problem.b_stride + at % kColumns] = 7;
    EXPECT_EQ(problem.result(matmul.mul_add), expected(problem, false)) << at;
  }
}

POLYKEM_EVERY_ISA(MatMulTest);

}  // namespace
}  // namespace polykem
