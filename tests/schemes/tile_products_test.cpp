// SPDX-License-Identifier: Apache-2.0
// Compares FrodoKEM's products on matrix tiles with words multiplied one by one.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/backend.hpp"
#include "schemes/frodo/kernels.hpp"
#include "support/isa.hpp"
#include "support/words.hpp"

namespace polykem::frodo {
namespace {

using test::Fill;
using test::filled;
using test::Words;

constexpr uint8_t kJunk = 0xd9;

class TileProductsTest : public ::testing::TestWithParam<size_t> {
 protected:
  void SetUp() override {
    if (!cpu_backend_available(cpu::kAmx)) GTEST_SKIP() << "this machine has no AMX, or may not use it";
  }
};

/// A in rows that are followed by other words up to 64 bytes.
struct A {
  size_t n, stride = (n + 31) / 32 * 32;
  test::AlignedBuffer<uint16_t> words{n * stride};

  A(size_t size, const Fill& fill) : n(size) {
    for (size_t i = 0; i < n * stride; ++i)
      words[i] = fill();
  }
  A(size_t size, const uint8_t* seed) : n(size) { kAes128Portable.grid(words.data(), stride, seed, 0, n, n); }
  ConstMatrix16 rows() { return {words.data(), stride}; }
};

/// A workspace with arbitrary contents.
struct Workspace {
  test::AlignedBuffer<std::byte> bytes;
  Workspace(size_t n, size_t count) : bytes(kTileProductsAmx.workspace_bytes(n, count)) {
    std::memset(bytes.data(), kJunk, kTileProductsAmx.workspace_bytes(n, count));
  }
};

/// Each result lies between other words, which stay as they are. seed: that of A, or nullptr if A must be packed.
void expect_s_a(A& a, const uint8_t* seed, size_t count, const Fill& any, const Fill& small) {
  const size_t n = a.n, stride = n + 3, step = kBar * stride + 5;
  const Words s = filled(count * step, small);
  Words expected = filled(count * step, any), b = expected;
  kMatMulPortable.mul_add({expected.data(), stride}, {s.data(), stride}, a.rows(),
                          {.rows = kBar, .inner = n, .columns = n, .count = count, .c_step = step, .a_step = step});
  Workspace workspace(n, seed == nullptr ? std::max(count, size_t{2}) : count);
  const Matrix16 to{b.data(), stride};
  const ConstMatrix16 from{s.data(), stride};
  if (seed != nullptr) {
    kTileProductsAmx.mul_s_a(to, from, seed, n, count, step, workspace.bytes.data());
  } else {
    test::AlignedBuffer<std::byte> packed(kTileProductsAmx.packed_bytes(n));
    std::memset(packed.data(), kJunk, kTileProductsAmx.packed_bytes(n));
    for (size_t i = 0; i < n; i += 64)
      kTileProductsAmx.pack(packed.data(), {a.rows().row(i), a.stride}, i, std::min(n - i, size_t{64}), n);
    kTileProductsAmx.mul_s_a_packed(to, from, packed.data(), n, count, step, workspace.bytes.data());
  }
  EXPECT_EQ(b, expected) << n << ", " << count << " items";
}

void expect_a_s(A& a, const uint8_t* seed, const Fill& any, const Fill& small) {
  const size_t n = a.n, stride = n + 1, b_stride = kBar + 3;
  const Words s = filled(kBar * stride, small);
  Words expected = filled(n * b_stride, any), b = expected;
  kMatMulPortable.mul_add_transposed({expected.data(), b_stride}, a.rows(), {s.data(), stride},
                                     {.rows = n, .inner = n, .columns = kBar});
  Workspace workspace(n, 1);
  kTileProductsAmx.mul_a_s({b.data(), b_stride}, seed, {s.data(), stride}, n, workspace.bytes.data());
  EXPECT_EQ(b, expected) << n;
}

TEST_P(TileProductsTest, OfPackedRows) {
  test::Noise noise(11);
  const Fill any = test::any_words(noise);
  const Fill byte = test::byte_words(noise);
  A a(GetParam(), any);
  for (const size_t count : {1, 2, 3, 4, 5, 9, 32})
    expect_s_a(a, nullptr, count, any, byte);
}

TEST_P(TileProductsTest, OfExtremes) {
  for (const int of_a : {0, 1, 0xff, 0x100, 0x7fff, 0x8000, 0xff00, 0xffff}) {
    A a(GetParam(), test::constant_words(of_a));
    for (const int of_s : {-128, -1, 0, 1, 127}) {
      const Fill constant = test::constant_words(of_s);
      expect_s_a(a, nullptr, 3, constant, constant);
    }
  }
}

TEST_P(TileProductsTest, OfAGeneratedByAes) {
  test::Noise noise(12);
  const Fill any = test::any_words(noise);
  const Fill small = test::small_words(noise);
  const Fill byte = test::byte_words(noise);
  for (const int extreme : {0, 1, 2}) {
    const auto seed = noise.bytes(kSeedABytes);
    const Fill lowest = test::constant_words(-128);
    const Fill& fill = extreme == 0 ? small : extreme == 1 ? lowest : byte;
    A a(GetParam(), seed.data());
    expect_a_s(a, seed.data(), any, fill);
    for (const size_t count : {1, 2, 3, 4, 5, 9, 32})
      expect_s_a(a, seed.data(), count, any, fill);
  }
}

/// One term each: every place of S meets its own place of A.
TEST_P(TileProductsTest, OfSingleWords) {
  test::Noise noise(13);
  const size_t n = GetParam();
  const auto seed = noise.bytes(kSeedABytes);
  A a(n, seed.data());
  const Fill zero = test::constant_words(0);
  for (size_t at = 0; at < n; at += n / 16 + 1) {
    size_t word = 0;
    const Fill single = [&] { return static_cast<uint16_t>(word++ % n == at ? 1 : 0); };
    expect_a_s(a, seed.data(), zero, single);
    expect_s_a(a, seed.data(), 1, zero, single);
    expect_s_a(a, nullptr, 2, zero, single);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, TileProductsTest, ::testing::Values(16, 32, 48, 64, 80, 144, 640, 976, 1344),
                         [](const auto& info) { return std::to_string(info.param); });
}  // namespace
}  // namespace polykem::frodo
