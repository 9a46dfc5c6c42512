// SPDX-License-Identifier: Apache-2.0
// Compares FrodoKEM's products that are computed while A is made with words multiplied one by one.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "core/backend.hpp"
#include "schemes/frodo/gen_a.hpp"
#include "support/isa.hpp"
#include "support/words.hpp"

namespace polykem::frodo {
namespace {

using test::Fill;
using test::filled;
using test::Words;

/// A way to make A, and its products.
struct Way {
  const char* name;
  GenA gen_a;
  const RowProductFunctions& products;
};
const Way kWays[] = {{"shake", GenA::kShake, kShakeProductsAvx512}, {"aes", GenA::kAes, kAesProductsAvx512}};

class RowProductsTest : public ::testing::TestWithParam<size_t> {
 protected:
  void SetUp() override {
    if (!cpu_backend_available(cpu::kAvx512)) GTEST_SKIP() << "this machine has no AVX-512";
  }
};

Words a_by(GenA gen_a, const uint8_t* seed, size_t n) {
  Words a(n * n);
  for (size_t i = 0; i < n; i += 8)
    generate_rows({a.data() + i * n, n}, gen_a, kKernelsRef, seed, {i, 8, n});
  return a;
}

/// S has rows of n + 1 words. Each result is between other words, which must not change. The workspace holds junk at
/// first.
void expect_a_s(const Way& way, const Words& a, const uint8_t* seed, size_t n, const Fill& any, const Words& s) {
  const size_t stride = n + 1, b_stride = kBar + 3;
  Words expected = filled(n * b_stride, any), b = expected;
  kMatMulPortable.mul_add_transposed({expected.data(), b_stride}, {a.data(), n}, {s.data(), stride},
                                     {.rows = n, .inner = n, .columns = kBar});
  test::AlignedBuffer<std::byte> workspace(way.products.workspace_bytes(n));
  std::memset(workspace.data(), 0xd9, way.products.workspace_bytes(n));
  way.products.mul_a_s({b.data(), b_stride}, seed, {s.data(), stride}, n, workspace.data());
  EXPECT_EQ(b, expected) << way.name << " " << n;
}

void expect_s_a(const Way& way, const Words& a, const uint8_t* seed, size_t n, const Fill& any, const Words& s) {
  const size_t stride = n + 1;
  Words expected = filled(kBar * stride, any), b = expected;
  kMatMulPortable.mul_add({expected.data(), stride}, {s.data(), stride}, {a.data(), n},
                          {.rows = kBar, .inner = n, .columns = n});
  test::AlignedBuffer<std::byte> workspace(way.products.workspace_bytes(n));
  std::memset(workspace.data(), 0xd9, way.products.workspace_bytes(n));
  way.products.mul_s_a({b.data(), stride}, {s.data(), stride}, seed, n, workspace.data());
  EXPECT_EQ(b, expected) << way.name << " " << n;
}

void expect_both(const Way& way, const Words& a, const uint8_t* seed, size_t n, const Fill& any, const Words& s) {
  expect_a_s(way, a, seed, n, any, s);
  expect_s_a(way, a, seed, n, any, s);
}

TEST_P(RowProductsTest, OfNoiseAndExtremes) {
  test::Noise noise(21);
  const size_t n = GetParam();
  const auto seed = noise.bytes(kSeedABytes);
  const Fill any = test::any_words(noise);
  const Fill small = test::small_words(noise);
  const size_t words = kBar * (n + 1);
  for (const Way& way : kWays) {
    const Words a = a_by(way.gen_a, seed.data(), n);
    expect_both(way, a, seed.data(), n, any, filled(words, small));
    expect_both(way, a, seed.data(), n, any, filled(words, any));
    for (const uint16_t extreme : {0, 0x7fff, 0x8000, 0xffff})
      expect_both(way, a, seed.data(), n, any, Words(words, extreme));
  }
}

/// One term each: every place of S meets its own place of A. 96: more than a block, and groups that are no whole set.
TEST(RowProductFunctions, OfSingleWords) {
  if (!cpu_backend_available(cpu::kAvx512)) GTEST_SKIP() << "this machine has no AVX-512";
  test::Noise noise(22);
  const auto seed = noise.bytes(kSeedABytes);
  const Fill zero = test::constant_words(0);
  for (const Way& way : kWays) {
    for (const size_t n : {16, 96}) {
      const Words a = a_by(way.gen_a, seed.data(), n);
      for (size_t place = 0; place < kBar * n; ++place) {
        Words s(kBar * (n + 1));
        s[place / n * (n + 1) + place % n] = 1;
        expect_both(way, a, seed.data(), n, zero, s);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, RowProductsTest, ::testing::Values(16, 32, 48, 64, 80, 96, 144, 336, 640, 976, 1344),
                         [](const auto& info) { return std::to_string(info.param); });
}  // namespace
}  // namespace polykem::frodo
