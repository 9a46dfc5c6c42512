// SPDX-License-Identifier: Apache-2.0
// Compares products by matrix tiles with schoolbook multiplication.
#include "prim/polymul/tile_mul.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "core/backend.hpp"
#include "prim/polymul/ref/schoolbook.hpp"
#include "support/isa.hpp"

namespace polykem {
namespace {

using test::AlignedBuffer;
using test::Noise;
/// Coefficient k of item i.
using Fill = std::function<uint16_t(size_t i, size_t k)>;

constexpr size_t kDegrees[] = {509, 677, 701, 821, 1229, 1373};
constexpr size_t kItems = 3;

/// Polynomials of kItems items as words and, as far as they fit, as bytes; noise beyond coefficient n - 1.
struct Operand {
  AlignedBuffer<uint16_t> words;
  AlignedBuffer<int8_t> bytes;
  size_t width;

  Operand(const TileMulFunctions& mul, const Fill& fill, Noise& noise)
      : words(kItems * mul.width), bytes(kItems * mul.width), width(mul.width) {
    for (size_t i = 0; i < kItems; ++i) {
      for (size_t k = 0; k < width; ++k) {
        const auto value = static_cast<uint16_t>(k < mul.n ? fill(i, k) : noise.next());
        words[i * width + k] = value;
        bytes[i * width + k] = static_cast<int8_t>(value);
      }
    }
  }
  ConstWordPolys as_words() { return {words.data(), width * sizeof(uint16_t)}; }
  ConstBytePolys as_bytes() { return {bytes.data(), width}; }
  /// Item i, each coefficient as a word.
  std::vector<uint16_t> item(size_t i, size_t n, bool of_bytes) {
    std::vector<uint16_t> out(n);
    for (size_t k = 0; k < n; ++k)
      out[k] = of_bytes ? static_cast<uint16_t>(bytes[i * width + k]) : words[i * width + k];
    return out;
  }
};

class TileMulTest : public ::testing::TestWithParam<size_t> {
 protected:
  void SetUp() override {
    if (!cpu_backend_available(cpu::kAmx)) GTEST_SKIP() << "no matrix tiles here";
  }

  /// Compares all three products, in a workspace of noise, and with a result in place of an operand.
  void check(const Fill& fill_a, const Fill& fill_b) {
    const TileMulFunctions& mul = *tile_mul_amx(GetParam());
    Noise noise(GetParam());
    for (const size_t count : {size_t{1}, kItems}) {
      for (int kind = 0; kind < 4; ++kind) {
        Operand a(mul, fill_a, noise), b(mul, fill_b, noise);
        AlignedBuffer<uint8_t> workspace(mul.workspace_bytes);
        const auto dirt = noise.bytes(mul.workspace_bytes);
        std::copy(dirt.begin(), dirt.end(), workspace.data());
        Operand result(
            mul, [](size_t, size_t) { return uint16_t{0}; }, noise);
        std::vector<std::vector<uint16_t>> want;
        for (size_t i = 0; i < count; ++i) {
          const auto x = a.item(i, mul.n, kind == 0), y = b.item(i, mul.n, kind < 2);
          want.emplace_back(mul.n);
          poly_mul_cyclic(want[i].data(), x.data(), y.data(), mul.n);
        }
        Operand& out = kind == 3 ? a : result;
        const WordPolys c{out.words.data(), mul.width * sizeof(uint16_t)};
        if (kind == 0) {
          mul.mul_bytes(c, a.as_bytes(), b.as_bytes(), count, workspace.data());
        } else if (kind == 1) {
          mul.mul_words_bytes(c, a.as_words(), b.as_bytes(), count, workspace.data());
        } else {
          mul.mul_words(c, a.as_words(), b.as_words(), count, workspace.data());
        }
        for (size_t i = 0; i < count; ++i)
          ASSERT_EQ(out.item(i, mul.n, false), want[i]) << "kind " << kind << ", item " << i;
      }
    }
  }
};

TEST_P(TileMulTest, Random) {
  Noise noise(7);
  const Fill any = [&](size_t, size_t) { return static_cast<uint16_t>(noise.next() >> 17); };
  check(any, any);
}

TEST_P(TileMulTest, Extremes) {
  for (const uint16_t a : {uint16_t{0}, uint16_t{0xffff}, uint16_t{0x8080}, uint16_t{0x7f7f}}) {
    for (const uint16_t b : {uint16_t{0xffff}, uint16_t{0x80}, uint16_t{0x7fff}})
      check([a](size_t, size_t) { return a; }, [b](size_t, size_t) { return b; });
  }
}

TEST_P(TileMulTest, SingleCoefficients) {
  const size_t n = GetParam();
  for (const size_t at : {size_t{0}, size_t{63}, size_t{64}, n / 2, n - 1}) {
    const auto one = [at](size_t i, size_t k) { return static_cast<uint16_t>(k == at ? 0x0103 + i : 0); };
    const auto ramp = [](size_t i, size_t k) { return static_cast<uint16_t>(k * 77 + i); };
    check(one, ramp);
    check(ramp, one);
  }
}

/// The keystream during a product is the generator's, to its last byte and no further, and the product is the same.
TEST_P(TileMulTest, DrawsBesideAProduct) {
  const TileMulFunctions& mul = *tile_mul_amx(GetParam());
  Noise noise(8);
  const Fill any = [&](size_t, size_t) { return static_cast<uint16_t>(noise.next() >> 17); };
  Aes256Keystream stream;
  const auto key = noise.bytes(kAes256KeyBytes);
  std::copy(key.begin(), key.end(), stream.key);
  stream.nonce = noise.next();
  for (const size_t count : {size_t{1}, kItems}) {
    for (const size_t bytes : {0, 1, 127, 128, 2413, 3 * 3075, 40000}) {
      stream.counter = noise.next();
      Operand a(mul, any, noise), b(mul, any, noise), result(mul, any, noise), want(mul, any, noise);
      AlignedBuffer<uint8_t> workspace(mul.workspace_bytes);
      std::vector<uint8_t> drawn(bytes + 64, 0x5a), expected = drawn;
      const auto words = [&](Operand& x) { return WordPolys{x.words.data(), mul.width * sizeof(uint16_t)}; };
      mul.mul_words_bytes(words(want), a.as_words(), b.as_bytes(), count, workspace.data());
      mul.mul_words_bytes_and_keystream(words(result), a.as_words(), b.as_bytes(), count, workspace.data(),
                                        drawn.data(), bytes, stream);
      aes256_ctr_portable(expected.data(), bytes, stream.key, stream.nonce, stream.counter);
      EXPECT_EQ(drawn, expected) << bytes;
      for (size_t i = 0; i < count; ++i)
        ASSERT_EQ(result.item(i, mul.n, false), want.item(i, mul.n, false)) << bytes << " bytes, item " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Degrees, TileMulTest, ::testing::ValuesIn(kDegrees),
                         [](const auto& info) { return std::to_string(info.param); });

}  // namespace
}  // namespace polykem
