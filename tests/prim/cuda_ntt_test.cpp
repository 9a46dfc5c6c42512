// SPDX-License-Identifier: Apache-2.0
// Tests the arithmetic of ML-KEM's kernels, compiled for the host: exact results where stated, and the reference's
// transform.
#include <gtest/gtest.h>

#include <random>

#define __host__
#define __device__
#define __forceinline__ inline
#include "prim/ntt/cuda/ntt.cuh"

namespace polykem::cuda {
namespace {

using Lanes = Coefficients[kPolyLanes];

class CudaNtt : public testing::Test {
 protected:
  uint32_t random(uint32_t below) { return static_cast<uint32_t>(generator_() % below); }

 private:
  std::mt19937_64 generator_{20};
};

TEST_F(CudaNtt, ProductsWithFactorsAreExactUpToTheBound) {
  for (uint32_t w = 0; w < kNttQ; ++w) {
    const uint32_t factor = factor_of(w);
    for (uint32_t a = kMaxMultiplied - 8; a < kMaxMultiplied; ++a)
      ASSERT_EQ(multiply_by(a, factor), uint64_t{a} * w % kNttQ) << a << " " << w;
    for (int i = 0; i < 200; ++i) {
      const uint32_t a = random(kMaxMultiplied);
      ASSERT_EQ(multiply_by(a, factor), uint64_t{a} * w % kNttQ) << a << " " << w;
    }
  }
  for (uint32_t x = 0; x < kMaxMultiplied; ++x)
    ASSERT_EQ(reduce_small(x), x % kNttQ);
}

TEST_F(CudaNtt, AnyNumberIsReducedBelow2q) {
  const auto check = [](uint32_t x) {
    const uint32_t reduced = reduce_to_2q(x);
    ASSERT_LT(reduced, 2 * kNttQ) << x;
    ASSERT_EQ(reduced % kNttQ, x % kNttQ) << x;
  };
  for (uint32_t k = 0; k < 0xffffffff / kNttQ; ++k) {
    check(k * kNttQ);
    check(k * kNttQ + kNttQ - 1);
  }
  check(0xffffffff);
}

template <int kBits>
void check_compression() {
  for (uint32_t x = 0; x < 3 * kNttQ; ++x) {
    const uint32_t rounded = ((x % kNttQ << kBits) + kNttQ / 2) / kNttQ;
    ASSERT_EQ(compress<kBits>(x), rounded % (1u << kBits)) << x;
  }
  for (uint32_t y = 0; y < 1u << kBits; ++y)
    ASSERT_EQ(decompress<kBits>(y), (y * kNttQ + (1u << (kBits - 1))) >> kBits);
}

TEST_F(CudaNtt, CompressionRoundsAsTheStandardSays) {
  check_compression<1>();
  check_compression<4>();
  check_compression<5>();
  check_compression<10>();
  check_compression<11>();
}

/// Moves the coefficients of lanes from columns to rows, or the other way round.
void exchange(Lanes& to, const Lanes& from) {
  for (int l = 0; l < kPolyLanes; ++l) {
    for (int r = 0; r < kLaneCoefficients; ++r)
      to[l][r] = from[r][l];
  }
}

TEST_F(CudaNtt, TransformsAndProductsAreThoseOfTheReference) {
  for (int round = 0; round < 200; ++round) {
    uint16_t poly[ntt::kN], other[ntt::kN], product[ntt::kN];
    Lanes columns, rows, sums = {};
    for (size_t i = 0; i < ntt::kN; ++i) {
      poly[i] = static_cast<uint16_t>(round == 0 ? kNttQ - 1 : random(kNttQ));
      other[i] = static_cast<uint16_t>(round == 0 ? 4095 : random(4096));
      columns[i % 16][i / 16] = poly[i] + (round % 2 == 0 ? kNttQ - 1 : 0);  // below 2q
      if (round % 2 == 0) poly[i] = static_cast<uint16_t>((poly[i] + kNttQ - 1) % kNttQ);
    }
    ntt::forward(poly);
    ntt::multiply(product, other, poly, 1);
    for (auto& lane : columns)
      forward_columns(lane);
    exchange(rows, columns);
    for (size_t l = 0; l < kPolyLanes; ++l) {
      const RowFactors& factors = kRowFactors.forward[l];
      forward_rows(rows[l], factors);
      uint32_t odd[8];
      times_gamma(odd, rows[l], factors);
      for (size_t p = 0; p < 8; ++p)
        add_product(sums[l][2 * p], sums[l][2 * p + 1], other[16 * l + 2 * p], other[16 * l + 2 * p + 1],
                    rows[l][2 * p], rows[l][2 * p + 1], odd[p]);
      for (size_t r = 0; r < kLaneCoefficients; ++r) {
        ASSERT_LT(rows[l][r], 9 * kNttQ);
        ASSERT_EQ(rows[l][r] % kNttQ, poly[16 * l + r]);
        ASSERT_EQ(sums[l][r] % kNttQ, product[16 * l + r]);
        sums[l][r] = reduce_to_2q(sums[l][r]);
      }
      inverse_rows(sums[l], kRowFactors.inverse[l]);
    }
    ntt::inverse(product);
    exchange(columns, sums);
    for (size_t l = 0; l < kPolyLanes; ++l) {
      inverse_columns(columns[l]);
      for (size_t r = 0; r < kLaneCoefficients; ++r)
        ASSERT_EQ(columns[l][r], product[l + 16 * r]);
    }
  }
}

}  // namespace
}  // namespace polykem::cuda
