// SPDX-License-Identifier: Apache-2.0
// The tree of products that inverts a batch on the GPU, here over the integers modulo a prime.
#include "schemes/ntru/polyinv/cuda/inverse_tree.cuh"

#include <gtest/gtest.h>

#include <vector>

namespace polykem::cuda {
namespace {

constexpr uint32_t kPrime = 251;
constexpr int kRow = 3;
constexpr size_t kMin = 4;
using Tree = InverseTree<kRow, kMin>;

uint8_t inverse(uint8_t x) {
  uint32_t result = 1, power = x;
  for (uint32_t exponent = kPrime - 2; exponent > 0; exponent /= 2) {
    if (exponent % 2 != 0) result = result * power % kPrime;
    power = power * power % kPrime;
  }
  return static_cast<uint8_t>(result);
}

bool overlap(const uint8_t* a, const uint8_t* b, size_t rows_of_a, size_t rows_of_b) {
  return a < b + rows_of_b * kRow && b < a + rows_of_a * kRow;
}

TEST(InverseTree, InvertsEveryRowOfABatch) {
  for (size_t count = 1; count < 300; ++count) {
    const Tree tree(count);
    const size_t rows = tree.rows();
    ASSERT_GE(rows, count);
    ASSERT_LT(rows - count, rows / kMin + 1);
    std::vector<uint8_t> a(rows * kRow), inverses(a.size()), nodes(a.size());
    for (size_t i = 0; i < a.size(); ++i)
      a[i] = static_cast<uint8_t>(1 + (i * 40503 + count) % (kPrime - 1));
    const std::vector<uint8_t> given = a;
    size_t inverted = 0, multiplied = 0;
    tree.run(
        inverses.data(), a.data(), nodes.data(),
        [&](uint8_t* c, const uint8_t* x, const uint8_t* y, size_t n) {
          EXPECT_FALSE(overlap(c, x, n, n) || overlap(c, y, n, n));
          for (size_t i = 0; i < n * kRow; ++i)
            c[i] = static_cast<uint8_t>(uint32_t{x[i]} * y[i] % kPrime);
          multiplied += n;
        },
        [&](uint8_t* c, const uint8_t* x, const uint8_t* y, size_t n) {
          EXPECT_FALSE(overlap(c, x, 2 * n, n) || overlap(c, y, 2 * n, 2 * n));
          const size_t half = n * kRow;
          for (size_t i = 0; i < half; ++i) {
            c[i] = static_cast<uint8_t>(uint32_t{x[i]} * y[half + i] % kPrime);
            c[half + i] = static_cast<uint8_t>(uint32_t{x[i]} * y[i] % kPrime);
          }
          multiplied += 2 * n;
        },
        [&](uint8_t* c, const uint8_t* x, size_t n) {
          EXPECT_FALSE(overlap(c, x, n, n));
          for (size_t i = 0; i < n * kRow; ++i)
            c[i] = inverse(x[i]);
          inverted += n;
        });
    EXPECT_EQ(a, given);
    EXPECT_LE(inverted, 2 * kMin);
    EXPECT_EQ(multiplied, 3 * (rows - inverted));
    for (size_t i = 0; i < a.size(); ++i)
      ASSERT_EQ(uint32_t{a[i]} * inverses[i] % kPrime, 1u) << "coefficient " << i << " of " << count << " rows";
  }
}

}  // namespace
}  // namespace polykem::cuda
