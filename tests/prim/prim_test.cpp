// SPDX-License-Identifier: Apache-2.0
// Compares the portable primitives with published answers and with their definitions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <set>

#include "ct/ct.hpp"
#include "prim/drbg/drbg.hpp"
#include "prim/keccak/keccak.hpp"
#include "prim/polymul/ref/schoolbook.hpp"
#include "schemes/ntru/polyinv/polyinv.hpp"
#include "schemes/ntru/sort/sort.hpp"
#include "support/batch.hpp"

namespace polykem::test {
namespace {

constexpr size_t kDegrees[] = {509, 677, 701, 821, 1229, 1373};

TEST(Keccak, Sha3OfTheEmptyStringAndOfAbc) {
  Bytes digest(32);
  sha3_256(digest.data(), {});
  EXPECT_EQ(digest, from_hex("a7ffc6f8bf1ed76651c14756a061d662f580ff4de43b49fa82d80a4b80f8434a"));
  const Bytes abc{'a', 'b', 'c'};
  sha3_256(digest.data(), abc);
  EXPECT_EQ(digest, from_hex("3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532"));
}

TEST(Keccak, Sha3OfTwoPartsIsThatOfTheirConcatenation) {
  for (const size_t size : {0u, 1u, 135u, 136u, 137u, 272u, 500u}) {
    const Bytes message = pattern(size, size);
    Bytes whole(32), parts(32);
    sha3_256(whole.data(), message);
    for (size_t cut = 0; cut <= size; cut += 17) {
      sha3_256(parts.data(), std::span(message).first(cut), std::span(message).subspan(cut));
      ASSERT_EQ(parts, whole) << size << " cut at " << cut;
    }
  }
}

TEST(Keccak, ShakeOfTheEmptyStringSqueezedInPieces) {
  Bytes out(32);
  Shake a(Shake::Strength::kShake128);
  a.squeeze(std::span(out).first(5));
  a.squeeze(std::span(out).subspan(5));
  EXPECT_EQ(out, from_hex("7f9c2ba4e88f827d616045507605853ed73b8093f6efbc88eb1a6eacfa66ef26"));
  Shake b(Shake::Strength::kShake256);
  b.squeeze(out);
  EXPECT_EQ(out, from_hex("46b9dd2b0ba88d13233b3feb743eeb243fcd52ea62b81b82b50c27646ed5762f"));
}

TEST(Sort, AgreesWithTheStandardLibrary) {
  std::mt19937 random(7);
  for (const size_t count : {0u, 1u, 2u, 3u, 7u, 64u, 508u, 676u, 820u, 1228u}) {
    for (int round = 0; round < 20; ++round) {
      std::vector<int32_t> values(count);
      for (auto& v : values)
        v = static_cast<int32_t>(round % 2 ? random() : random() % 4);
      if (count > 2) {
        values[0] = INT32_MIN;
        values[1] = INT32_MAX;
      }
      auto expected = values;
      std::sort(expected.begin(), expected.end());
      sort_int32(values.data(), count);
      ASSERT_EQ(values, expected);
    }
  }
}

TEST(Ct, Mod3OfEvery15BitValue) {
  for (uint32_t x = 0; x < 32768; ++x)
    ASSERT_EQ(ct::mod3(x), x % 3);
}

TEST(Ct, MaskNonzero) {
  EXPECT_EQ(ct::mask_nonzero(0), 0u);
  for (const uint32_t x : {1u, 2u, 0x80000000u, 0xffffffffu})
    EXPECT_EQ(ct::mask_nonzero(x), 0xffffffffu);
}

TEST(Ct, SelectBytes) {
  uint8_t a[67], b[67], out[67];
  for (size_t i = 0; i < sizeof a; ++i) {
    a[i] = static_cast<uint8_t>(i * 37);
    b[i] = static_cast<uint8_t>(~a[i] ^ i);
  }
  for (const uint32_t mask : {0u, 0xffffffffu}) {
    const uint8_t* const chosen = mask == 0 ? a : b;
    ct::select_bytes(out, a, b, sizeof out, mask);
    EXPECT_EQ(std::memcmp(out, chosen, sizeof out), 0);
    std::memcpy(out, a, sizeof out);
    ct::select_bytes(out, out, b, sizeof out, mask);
    EXPECT_EQ(std::memcmp(out, chosen, sizeof out), 0);
  }
}

TEST(PolyMul, SchoolbookOnMonomialsAndByDefinition) {
  const size_t n = 509;
  std::vector<uint16_t> a(n), b(n), c(n), expected(n);
  std::mt19937 random(3);
  for (auto& x : a)
    x = static_cast<uint16_t>(random());
  for (const size_t shift : {size_t{0}, size_t{1}, n - 1}) {
    std::fill(b.begin(), b.end(), 0);
    b[shift] = 1;
    poly_mul_cyclic(c.data(), a.data(), b.data(), n);
    for (size_t i = 0; i < n; ++i)
      ASSERT_EQ(c[(i + shift) % n], a[i]);
  }
  for (auto& x : b)
    x = static_cast<uint16_t>(random());
  std::fill(expected.begin(), expected.end(), 0);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j)
      expected[(i + j) % n] = static_cast<uint16_t>(expected[(i + j) % n] + uint32_t{a[i]} * b[j]);
  }
  poly_mul_cyclic(c.data(), a.data(), b.data(), n);
  EXPECT_EQ(c, expected);
}

/// product mod (p, Phi_n) must be 1.
void expect_one(std::vector<uint16_t> product, size_t n, unsigned p) {
  const unsigned last = product[n - 1] % p;
  for (size_t i = 0; i < n; ++i)
    ASSERT_EQ((product[i] + p - last) % p, i == 0 ? 1u : 0u) << "coefficient " << i;
}

class Inverse : public testing::TestWithParam<size_t> {};

TEST_P(Inverse, TimesTheOperandIsOneMod2AndMod3) {
  const size_t n = GetParam();
  std::mt19937 random(static_cast<unsigned>(n));
  std::vector<uint16_t> a(n), inverse(n), product(n);
  for (int round = 0; round < 5; ++round) {
    for (auto& x : a)
      x = static_cast<uint16_t>(random() % 3);
    a[n - 1] = 0;
    poly_inverse_mod3(inverse.data(), a.data(), n);
    poly_mul_cyclic(product.data(), a.data(), inverse.data(), n);
    expect_one(product, n, 3);
    for (auto& x : a)
      x &= 1;
    poly_inverse_mod2(inverse.data(), a.data(), n);
    poly_mul_cyclic(product.data(), a.data(), inverse.data(), n);
    expect_one(product, n, 2);
  }
}

TEST_P(Inverse, OfOneAndOfX) {
  const size_t n = GetParam();
  for (const size_t power : {size_t{0}, size_t{1}}) {
    std::vector<uint16_t> a(n, 0), inverse(n), product(n);
    a[power] = 1;
    poly_inverse_mod2(inverse.data(), a.data(), n);
    poly_mul_cyclic(product.data(), a.data(), inverse.data(), n);
    expect_one(product, n, 2);
    poly_inverse_mod3(inverse.data(), a.data(), n);
    poly_mul_cyclic(product.data(), a.data(), inverse.data(), n);
    expect_one(product, n, 3);
  }
}

INSTANTIATE_TEST_SUITE_P(Degrees, Inverse, testing::ValuesIn(kDegrees), testing::PrintToStringParamName());

TEST(Drbg, NeverRepeatsAndDependsOnItsSeed) {
  std::set<Bytes> seen;
  for (int generator = 0; generator < 4; ++generator) {
    Drbg drbg;
    ASSERT_EQ(drbg.prepare(), Status::kOk);
    for (int i = 0; i < 50; ++i) {
      Bytes out(32);
      drbg.fill(out);
      EXPECT_TRUE(seen.insert(out).second);
    }
  }
}

TEST(Drbg, ItsBitsAreBalanced) {
  Drbg drbg;
  ASSERT_EQ(drbg.prepare(), Status::kOk);
  Bytes out(1 << 16);
  drbg.fill(out);
  size_t ones = 0;
  for (const uint8_t byte : out)
    ones += static_cast<size_t>(__builtin_popcount(byte));
  EXPECT_NEAR(static_cast<double>(ones), 4.0 * static_cast<double>(out.size()), 6 * 362);  // six sigma
}

}  // namespace
}  // namespace polykem::test
