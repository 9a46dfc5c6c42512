// SPDX-License-Identifier: Apache-2.0
// Tests that a violated bound ends the program where bounds are checked. It is a program of its own, since the library
// that other tests link may not check bounds.
#ifndef POLYKEM_CHECK_RANGES
#define POLYKEM_CHECK_RANGES
#endif
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "core/range.hpp"
#define __host__
#define __device__
#define __forceinline__ inline
#include "prim/ntt/cuda/ntt.cuh"

namespace polykem {
namespace {

struct Vector {
  static constexpr size_t kLanes = 4;
  std::array<uint16_t, kLanes> lanes;
  void store(uint16_t* to) const { std::copy(lanes.begin(), lanes.end(), to); }
};

TEST(Range, AnIntegerOutsideEndsTheProgram) {
  for (const int inside : {-3, 0, 2})
    POLYKEM_ASSERT_RANGE(inside, -3, 3);
  for (const int outside : {-4, 3})
    EXPECT_DEATH(POLYKEM_ASSERT_RANGE(outside, -3, 3), "outside is out of its range");
}

TEST(Range, EveryLaneCounts) {
  POLYKEM_ASSERT_RANGE((Vector{{0, 65535, 65533, 2}}), -3, 3);
  POLYKEM_ASSERT_RANGE((Vector{{0, 65535, 65533, 2}}), 0, 65536);
  for (size_t lane = 0; lane < Vector::kLanes; ++lane) {
    Vector x{};
    x.lanes[lane] = 3;
    EXPECT_DEATH(POLYKEM_ASSERT_RANGE(x, -3, 3), "x is out of its range: 3");
    x.lanes[lane] = 65532;
    EXPECT_DEATH(POLYKEM_ASSERT_RANGE(x, -3, 3), "x is out of its range: -4");
  }
}

TEST(Range, ABoundIsForBothSigns) {
  POLYKEM_ASSERT_WITHIN((Vector{{0, 2, 65534}}), 3U);
  for (const int outside : {-3, 3})
    EXPECT_DEATH(POLYKEM_ASSERT_WITHIN(outside, 3U), "outside is out of its range");
}

TEST(Range, TheArithmeticOfMlKemsKernelsChecksItsBounds) {
  const uint32_t factor = cuda::factor_of(17);
  EXPECT_EQ(cuda::multiply_by(cuda::kMaxMultiplied - 1, factor), uint64_t{cuda::kMaxMultiplied - 1} * 17 % cuda::kNttQ);
  EXPECT_DEATH(cuda::multiply_by(cuda::kMaxMultiplied, factor), "a is out of its range");
  EXPECT_EQ(cuda::compress<1>(3 * cuda::kNttQ - 1), 0U);
  EXPECT_DEATH(cuda::compress<1>(3 * cuda::kNttQ), "x is out of its range");
}

}  // namespace
}  // namespace polykem
