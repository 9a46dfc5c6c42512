// SPDX-License-Identifier: Apache-2.0
// Compares ML-DSA's arithmetic with the standard's definitions.
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "schemes/mldsa/ntt.hpp"
#include "schemes/mldsa/ref/portable.hpp"
#include "schemes/mldsa/steps.hpp"

namespace polykem::mldsa {
namespace {

int64_t modulo(int64_t x, int64_t m) {
  return (x % m + m) % m;
}

/// mod+- [FIPS204, 2.3]
int64_t centred_modulo(int64_t x, int64_t m) {
  const int64_t r = modulo(x, m);
  return r > m / 2 ? r - m : r;
}

/// [FIPS204, Alg 36]
template <int32_t kPart>
void decompose_every_coefficient() {
  constexpr int32_t kGamma2 = (kQ - 1) / kPart;
  for (int32_t r = 0; r < kQ; ++r) {
    int64_t low = centred_modulo(r, 2 * kGamma2), high = 0;
    if (r - low == kQ - 1) {
      low -= 1;
    } else {
      high = (r - low) / (2 * kGamma2);
    }
    const HighLow split = decompose<kPart>(r);
    ASSERT_EQ(split.high, high) << r;
    ASSERT_EQ(split.low, low) << r;
    for (const int32_t hint : {0, 1}) {
      constexpr int64_t kParts = kPart / 2;
      const int64_t expected = hint == 0 ? high : modulo(low > 0 ? high + 1 : high - 1, kParts);
      ASSERT_EQ(use_hint<kPart>(r, hint), expected) << r;
    }
  }
}

TEST(Mldsa, Decompose88) {
  decompose_every_coefficient<88>();
}
TEST(Mldsa, Decompose32) {
  decompose_every_coefficient<32>();
}

/// [FIPS204, Alg 35]
TEST(Mldsa, Power2Round) {
  for (int32_t r = 0; r < kQ; ++r) {
    const int64_t low = centred_modulo(r, 1 << kD);
    ASSERT_EQ(power2_round(r).low, low) << r;
    ASSERT_EQ(power2_round(r).high, (r - low) >> kD) << r;
  }
}

/// A hint says whether the high part changes. [FIPS204, Alg 39]
template <int32_t kPart>
void hints_agree_with_high_parts() {
  constexpr int32_t kGamma2 = (kQ - 1) / kPart;
  std::mt19937 random(1);
  for (int i = 0; i < 1'000'000; ++i) {
    const auto r = static_cast<int32_t>(random() % kQ);
    const auto z = static_cast<int32_t>(random() % (2 * kGamma2)) - kGamma2 + (i % 2);
    const HighLow split = decompose<kPart>(r);
    const bool changes = decompose<kPart>(static_cast<int32_t>(modulo(r + z, kQ))).high != split.high;
    ASSERT_EQ(make_hint<kPart>(split.high, split.low + z), changes ? 1 : 0) << r << " + " << z;
  }
}

TEST(Mldsa, Hints) {
  hints_agree_with_high_parts<88>();
  hints_agree_with_high_parts<32>();
}

/// Products by the transform are those of Z_q[x]/(x^256 + 1).
TEST(Mldsa, ProductsBySchoolbook) {
  std::mt19937 random(2);
  for (int round = 0; round < 5; ++round) {
    Poly a, b, product;
    for (size_t i = 0; i < kN; ++i) {
      a.c[i] = round == 0 ? kQ - 1 : static_cast<int32_t>(random() % kQ);
      b.c[i] = round == 0 ? kQ - 1 : static_cast<int32_t>(random() % kQ);
    }
    std::array<int64_t, kN> expected{};
    for (size_t i = 0; i < kN; ++i)
      for (size_t j = 0; j < kN; ++j) {
        const int64_t term = int64_t{a.c[i]} * b.c[j] % kQ;
        expected[(i + j) % kN] += i + j < kN ? term : -term;
      }
    ntt(a);
    ntt(b);
    for (int32_t& c : a.c)
      c = canonical(reduced(c));
    multiply(product, &a, &b, 1);
    inverse_ntt(product);
    for (size_t i = 0; i < kN; ++i)
      ASSERT_EQ(modulo(product.c[i], kQ), modulo(expected[i], kQ)) << i;
  }
}

/// Input that is too short, which hardly ever happens.
TEST(Mldsa, StreamsGoOn) {
  using Common = CommonSteps<kMldsa65, ref::Portable>;
  const uint8_t seed[34] = {1, 2, 3};
  uint8_t bytes[10 * kShake128Rate], of_256[10 * kShake256Rate];
  Shake xof(Shake::Strength::kShake128), xof256(Shake::Strength::kShake256);
  xof.absorb(seed);
  xof.squeeze(bytes);
  xof256.absorb(seed);
  xof256.squeeze(of_256);
  Poly whole, parts;
  Rejection(whole).take_uniform(bytes);
  Rejection some(parts);
  some.take_uniform({bytes, 2 * kShake128Rate});
  ASSERT_FALSE(some.full());
  Common::expand_rest<Shake::Strength::kShake128, 2>(seed, some, &Rejection::take_uniform);
  EXPECT_EQ(std::memcmp(&whole, &parts, sizeof whole), 0);

  Rejection(whole).take_small<4>(of_256);
  Rejection few(parts);
  few.take_small<4>({of_256, kShake256Rate});
  ASSERT_FALSE(few.full());
  Common::expand_rest<Shake::Strength::kShake256, 1>(seed, few, &Rejection::take_small<4>);
  EXPECT_EQ(std::memcmp(&whole, &parts, sizeof whole), 0);

  Stream stream(seed, {of_256, kShake256Rate});
  for (const uint8_t byte : of_256)
    ASSERT_EQ(stream(), byte);
}

/// Every way in which the bytes of a hint can be malformed. [FIPS204, Alg 21]
TEST(Mldsa, HintEncoding) {
  constexpr MldsaParams kSet = kMldsa44;
  Poly hint[kSet.k] = {}, read[kSet.k];
  hint[0].c[3] = hint[0].c[200] = hint[2].c[0] = hint[3].c[255] = 1;
  std::array<uint8_t, kSet.omega + kSet.k> packed{};
  pack_hint<kSet>(packed.data(), hint);
  ASSERT_TRUE(unpack_hint<kSet>(read, packed.data()));
  EXPECT_EQ(std::memcmp(hint, read, sizeof hint), 0);
  const auto refused = [&](size_t at, uint8_t value) {
    auto changed = packed;
    changed.at(at) = value;
    return !unpack_hint<kSet>(read, changed.data());
  };
  EXPECT_TRUE(refused(1, 3)) << "a position twice";
  EXPECT_TRUE(refused(0, 201)) << "positions that fall";
  EXPECT_TRUE(refused(kSet.omega - 1, 1)) << "a position after the last";
  EXPECT_TRUE(refused(kSet.omega, 4)) << "ends that fall";
  EXPECT_TRUE(refused(kSet.omega + 3, kSet.omega + 1)) << "an end beyond omega";
}

}  // namespace
}  // namespace polykem::mldsa
