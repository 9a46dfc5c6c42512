// SPDX-License-Identifier: Apache-2.0
// Tests what made-up times are taken for.
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <random>

#include "support/timing.hpp"

namespace polykem::test {
namespace {

/// Times around 1,000: those of class 1 are longer by `difference`, all vary by `noise`.
Times made_up(double difference, double noise) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal(1000, noise);
  Times times;
  for (std::size_t i = 0; i < 20'000; ++i)
    times.add(i % 2, normal(random) + (i % 2 == 1 ? difference : 0));
  return times;
}

const Times kSame = made_up(0, 10), kOther = made_up(5, 10), kNoise = made_up(5, 200);

/// The verdict on these measurements, of which the last may be left out.
Verdict agreed(const Times& first, const Times& second, const Times& third) {
  const std::array<const Times*, 3> measurements{&first, &second, &third};
  std::size_t next = 0;
  return agreed_verdict([&] { return *measurements.at(next++); });
}

TEST(TimingVerdict, OfOneMeasurement) {
  EXPECT_EQ(verdict(kSame), Verdict::kEqual);
  EXPECT_EQ(verdict(kOther), Verdict::kDiffer);
  EXPECT_EQ(verdict(kNoise), Verdict::kTooNoisy);
  EXPECT_EQ(verdict(made_up(50, 200)), Verdict::kDiffer);
}

TEST(TimingVerdict, IsThatOfTwo) {
  EXPECT_EQ(agreed(kSame, kSame, kOther), Verdict::kEqual);
  EXPECT_EQ(agreed(kSame, kOther, kSame), Verdict::kEqual);
  EXPECT_EQ(agreed(kOther, kSame, kSame), Verdict::kEqual);
  EXPECT_EQ(agreed(kOther, kSame, kOther), Verdict::kDiffer);
  EXPECT_EQ(agreed(kNoise, kOther, kOther), Verdict::kDiffer);
  EXPECT_EQ(agreed(kNoise, kSame, kNoise), Verdict::kTooNoisy);
}

TEST(TimingVerdict, IsTooNoisyIfNoTwoAgree) {
  EXPECT_EQ(agreed(kNoise, kSame, kOther), Verdict::kTooNoisy);
}

TEST(TimingVerdict, OtherThanExpectedFails) {
  EXPECT_NONFATAL_FAILURE(expect_verdict(Verdict::kEqual, [] { return kOther; }), "the times differ");
  EXPECT_NONFATAL_FAILURE(expect_verdict(Verdict::kDiffer, [] { return kSame; }), "the times do not differ");
  expect_verdict(Verdict::kEqual, [] { return kSame; });
}

}  // namespace
}  // namespace polykem::test
