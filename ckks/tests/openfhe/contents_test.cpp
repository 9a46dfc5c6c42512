// SPDX-License-Identifier: Apache-2.0
// Tests that objects have the meaning that objects.hpp states: the secret key is ternary, ciphertexts decrypt to their
// values.
#include <gtest/gtest.h>

#include <complex>
#include <numbers>

#include "support.hpp"

namespace polykem::openfhe::test {
namespace {

constexpr std::uint32_t kN = 16;
constexpr double kTolerance = 1e-6;

std::uint64_t times(std::uint64_t a, std::uint64_t b, std::uint64_t q) {
  return static_cast<std::uint64_t>(static_cast<unsigned __int128>(a) * b % q);
}

std::uint64_t power(std::uint64_t base, std::uint64_t exponent, std::uint64_t q) {
  std::uint64_t result = 1;
  for (; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) result = times(result, base, q);
    base = times(base, base, q);
  }
  return result;
}

std::uint32_t bit_reverse(std::uint32_t i) {
  std::uint32_t reversed = 0;
  for (std::uint32_t bit = 1; bit < kN; bit <<= 1) {
    reversed = (reversed << 1) | (i & 1);
    i >>= 1;
  }
  return reversed;
}

/// Returns the coefficients in (-q/2, q/2), by the inverse of the definition of the evaluation form.
std::vector<std::int64_t> coefficients(const Tower& tower) {
  const std::uint64_t q = tower.modulus;
  const std::uint64_t inverse_n = power(kN, q - 2, q);
  std::vector<std::int64_t> out;
  for (std::uint32_t j = 0; j < kN; ++j) {
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < kN; ++i) {
      const std::uint64_t exponent = std::uint64_t{j} * (2 * bit_reverse(i) + 1) % (2 * kN);
      sum = (sum + times(tower.values[i], power(tower.root, 2 * kN - exponent, q), q)) % q;
    }
    sum = times(sum, inverse_n, q);
    out.push_back(sum > q / 2 ? -static_cast<std::int64_t>(q - sum) : static_cast<std::int64_t>(sum));
  }
  return out;
}

/// Returns the values in the ciphertext from its first tower alone, which is large enough for their scale.
std::vector<double> decrypt(const Ciphertext& c, const SecretKey& key) {
  Tower sum = c.parts[0][0];
  for (std::uint32_t i = 0; i < kN; ++i) {
    const std::uint64_t s = key.s[0].values[i];
    std::uint64_t s_power = s;
    for (std::size_t part = 1; part < c.parts.size(); ++part) {
      sum.values[i] = (sum.values[i] + times(c.parts[part][0].values[i], s_power, sum.modulus)) % sum.modulus;
      s_power = times(s_power, s, sum.modulus);
    }
  }
  const std::vector<std::int64_t> message = coefficients(sum);
  std::vector<double> values;
  std::uint32_t exponent = 1;
  for (std::uint32_t slot = 0; slot < c.slots; ++slot) {
    std::complex<double> value = 0;
    for (std::uint32_t j = 0; j < kN; ++j)
      value += static_cast<double>(message[j]) * std::polar(1.0, std::numbers::pi * j * exponent / kN);
    values.push_back(value.real() / c.scale);
    exponent = exponent * 5 % (2 * kN);
  }
  return values;
}

double original(std::uint32_t i) {
  return 0.25 * i - 0.75;
}

TEST(Contents, Context) {
  const auto c = load<Context>("context.json");
  EXPECT_EQ(c.ring_dimension, kN);
  EXPECT_EQ(c.batch_size, kN / 2);
  EXPECT_EQ(c.moduli.size(), 3U);
  EXPECT_EQ(c.scaling, ScalingTechnique::kFixedManual);
  EXPECT_EQ(c.key_switch, KeySwitchTechnique::kHybrid);
  EXPECT_EQ(c.secret_distribution, SecretDistribution::kUniformTernary);
  EXPECT_EQ(c.scaling_bits, 40U);
  EXPECT_EQ(c.digits, 2U);
  EXPECT_EQ(c.depth, 2U);
  EXPECT_FLOAT_EQ(c.noise_deviation, 3.19F);
  EXPECT_EQ(c.features, kFeatureEncryption | kFeatureKeySwitch | kFeatureLevelled);
  EXPECT_FALSE(c.bootstrapping.has_value());
}

TEST(Contents, ABootstrappingContext) {
  const auto c = load<Context>("bootstrapping.bin");
  ASSERT_TRUE(c.bootstrapping.has_value());
  ASSERT_TRUE(c.bootstrapping->by_slots.contains(kN / 2));
  EXPECT_EQ(c.bootstrapping->by_slots.at(kN / 2).encoding_levels, 2U);
}

TEST(Contents, TheSecretKeyIsTernaryAndTheSameInEveryTower) {
  const auto key = load<SecretKey>("secret.bin");
  ASSERT_EQ(key.s.size(), 3U);
  const std::vector<std::int64_t> first = coefficients(key.s[0]);
  for (const std::int64_t x : first)
    EXPECT_TRUE(x >= -1 && x <= 1) << x;
  EXPECT_EQ(coefficients(key.s[1]), first);
  EXPECT_EQ(coefficients(key.s[2]), first);
}

TEST(Contents, AFreshCiphertextDecrypts) {
  const auto values = decrypt(load<Ciphertext>("fresh.json"), load<SecretKey>("secret.json"));
  ASSERT_EQ(values.size(), kN / 2);
  for (std::uint32_t i = 0; i < kN / 2; ++i)
    EXPECT_NEAR(values[i], original(i), kTolerance);
}

TEST(Contents, ARescaledAndARotatedProductDecrypt) {
  const auto key = load<SecretKey>("secret.bin");
  const auto rescaled = load<Ciphertext>("rescaled.bin");
  const auto rotated = load<Ciphertext>("rotated.bin");
  EXPECT_EQ(rescaled.level, 1U);
  EXPECT_EQ(rescaled.parts[0].size(), 2U);
  const auto squares = decrypt(rescaled, key);
  const auto turned = decrypt(rotated, key);
  for (std::uint32_t i = 0; i < kN / 2; ++i) {
    EXPECT_NEAR(squares[i], original(i) * original(i), kTolerance);
    EXPECT_NEAR(turned[i], squares[(i + 1) % (kN / 2)], kTolerance);
  }
}

TEST(Contents, AProductHasThreePartsAndTheSquareOfTheScale) {
  const auto fresh = load<Ciphertext>("fresh.bin");
  const auto product = load<Ciphertext>("product.bin");
  EXPECT_EQ(product.parts.size(), 3U);
  EXPECT_EQ(product.noise_degree, 2U);
  EXPECT_EQ(product.scale, fresh.scale * fresh.scale);
}

TEST(Contents, SwitchingKeys) {
  const auto relinearisation = load<RelinearisationKeys>("mult.json");
  const auto automorphisms = load<AutomorphismKeys>("auto.bin");
  ASSERT_EQ(relinearisation.keys.size(), 1U);
  const auto& [tag, keys] = *relinearisation.keys.begin();
  EXPECT_EQ(tag, load<SecretKey>("secret.bin").key_tag);
  ASSERT_EQ(keys.size(), 1U);
  EXPECT_EQ(keys[0].a.size(), 2U);
  EXPECT_EQ(keys[0].b.size(), 2U);
  EXPECT_GT(keys[0].a[0].size(), 3U);
  ASSERT_TRUE(automorphisms.keys.contains(tag));
  EXPECT_EQ(automorphisms.keys.at(tag).size(), 2U);
  EXPECT_TRUE(automorphisms.keys.at(tag).contains(5));
}

TEST(Contents, PrimesOf32Bits) {
  const auto c = load<Ciphertext>("composite.bin");
  EXPECT_EQ(c.context->scaling, ScalingTechnique::kCompositeAuto);
  EXPECT_EQ(c.context->register_bits, 32U);
  EXPECT_EQ(c.context->composite_degree, 2U);
  EXPECT_EQ(c.slots, kN / 4);
  for (const Modulus& q : c.context->moduli)
    EXPECT_LT(q.value, std::uint64_t{1} << 32);
}

}  // namespace
}  // namespace polykem::openfhe::test
