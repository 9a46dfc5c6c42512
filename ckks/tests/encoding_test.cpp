// SPDX-License-Identifier: Apache-2.0
// Messages as polynomials and back.
#include <cmath>
#include <limits>
#include <numbers>

#include "support.hpp"

namespace polykem::ckks::test {
namespace {

struct CkksEncoding : testing::Test {
  User user{make_params(6, 50, 40, 3)};
  const Context& context = user.context;
};

TEST_F(CkksEncoding, SlotsAreValuesAtPowersOfFive) {
  const std::vector<Complex> z = user.message(32);
  const Plaintexts plain = encode(context, z, 32, 4, 0x1p40);
  const SecretVector<double> m = coefficients(context, plain, 0);
  size_t power = 1;
  for (size_t j = 0; j < 32; ++j) {
    Complex value = 0;
    for (size_t k = 0; k < 64; ++k)
      value += m[k] * std::polar(1.0, std::numbers::pi * static_cast<double>(power * k % 128) / 64);
    EXPECT_LT(std::abs(value - z[j]), 1e-9) << j;
    power = power * 5 % 128;
  }
}

TEST_F(CkksEncoding, ReturnsEveryNumberOfSlots) {
  for (size_t slots = 1; slots <= 32; slots *= 2) {
    const std::vector<Complex> z = user.message(3 * slots);
    const Plaintexts plain = encode(context, z, slots, 2, 0x1p40);
    ASSERT_EQ(plain.count, 3U);
    std::vector<Complex> out(slots);
    for (size_t item = 0; item < 3; ++item) {
      decode(context, plain, item, out);
      EXPECT_LT(largest_difference(out, {z.begin() + static_cast<long>(item * slots),
                                         z.begin() + static_cast<long>((item + 1) * slots)}),
                1e-10);
    }
  }
}

TEST_F(CkksEncoding, KeepsLargeScales) {
  const std::vector<Complex> z = user.message(32);
  const Plaintexts plain = encode(context, z, 32, 4, 0x1p120);
  std::vector<Complex> out(32);
  decode(context, plain, 0, out);
  EXPECT_LT(largest_difference(out, z), 1e-14);
}

TEST_F(CkksEncoding, RoundsToTheNearest) {
  const std::vector<Complex> z{{2.75, 0}};
  const SecretVector<double> m = coefficients(context, encode(context, z, 1, 1, 1), 0);
  EXPECT_EQ(m[0], 3);
  EXPECT_EQ(m[32], 0);
}

TEST_F(CkksEncoding, RefusesWhatItCannotHold) {
  const auto attempt = [&](const std::vector<Complex>& z, size_t slots, size_t limbs, double scale) {
    return fault_of([&] { encode(context, z, slots, limbs, scale); });
  };
  const std::vector<Complex> one(1, {1, 0});
  EXPECT_EQ(attempt(one, 3, 1, 2), Fault::kArgument);
  EXPECT_EQ(attempt(std::vector<Complex>(64), 64, 1, 2), Fault::kArgument);
  EXPECT_EQ(attempt(std::vector<Complex>(3), 2, 1, 2), Fault::kArgument);
  EXPECT_EQ(attempt({}, 1, 1, 2), Fault::kArgument);
  EXPECT_EQ(attempt(one, 1, 0, 2), Fault::kLevels);
  EXPECT_EQ(attempt(one, 1, 5, 2), Fault::kLevels);
  EXPECT_EQ(attempt(one, 1, 1, 0.5), Fault::kArgument);
  EXPECT_EQ(attempt(one, 1, 1, std::numeric_limits<double>::infinity()), Fault::kArgument);
  EXPECT_EQ(attempt(one, 1, 1, 0x1p50), Fault::kArgument) << "one limb has 50 bits";
  EXPECT_EQ(attempt(one, 1, 1, 0x1p51), Fault::kScales);
  EXPECT_EQ(attempt({{std::numeric_limits<double>::quiet_NaN(), 0}}, 1, 1, 2), Fault::kArgument);
}

}  // namespace
}  // namespace polykem::ckks::test
