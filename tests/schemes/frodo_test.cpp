// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <vector>

#include "schemes/frodo/kernels.hpp"
#include "support/isa.hpp"
#include "support/words.hpp"

namespace polykem::frodo {
namespace {

using test::Bytes;
using test::Words;

const FrodoParams* const kParams[] = {&kFrodo640, &kFrodo976, &kFrodo1344};

Words every_word() {
  Words words(1 << 16);
  for (size_t i = 0; i < words.size(); ++i)
    words[i] = static_cast<uint16_t>(i);
  return words;
}

/// The error of one word as the specification defines it. [FRODO21, Alg 5]
int error_of(uint16_t word, const Cdf& cdf) {
  int e = 0;
  for (size_t z = 0; z + 1 < cdf.size; ++z)
    e += (word >> 1) > cdf.at[z] ? 1 : 0;
  return (word & 1) != 0 ? -e : e;
}

void expect_samples(const Kernels& kernels) {
  for (const FrodoParams* p : kParams) {
    Words words = every_word();
    kernels.sample(words.data(), words.size(), p->cdf);
    for (size_t i = 0; i < words.size(); ++i)
      ASSERT_EQ(words[i], static_cast<uint16_t>(error_of(static_cast<uint16_t>(i), p->cdf))) << p->n << ": " << i;
  }
}

/// Over all words the errors have the variance of a Gaussian of the specified deviation that is rounded to integers.
TEST(FrodoRef, SamplesHaveTheRightDeviation) {
  const std::map<size_t, double> deviation = {{640, 2.8}, {976, 2.3}, {1344, 1.4}};
  for (const FrodoParams* p : kParams) {
    double squares = 0;
    for (unsigned word = 0; word < 1 << 16; ++word)
      squares += std::pow(error_of(static_cast<uint16_t>(word), p->cdf), 2);
    EXPECT_NEAR(squares / 65536, std::pow(deviation.at(p->n), 2) + 1.0 / 12, 0.005) << p->n;
  }
}

TEST(FrodoRef, Samples) {
  expect_samples(kKernelsRef);
}

/// Bits of the coefficients one after the other, the most significant first. [FRODO21, Alg 3]
Bytes packed_by_bits(const Words& words, unsigned logq) {
  Bytes out(words.size() * logq / 8);
  for (size_t bit = 0; bit < words.size() * logq; ++bit) {
    const unsigned value = words[bit / logq] >> (logq - 1 - bit % logq) & 1u;
    out[bit / 8] = static_cast<uint8_t>(out[bit / 8] | value << (7 - bit % 8));
  }
  return out;
}

void expect_packing(const Kernels& kernels) {
  test::Noise noise(5);
  constexpr uint8_t kUntouched = 0xab;
  for (const unsigned logq : {15u, 16u}) {
    for (const size_t rows : {1, 2, 3, 4, 5, 6, 7, 8, 16, 80, 122}) {
      Words words(rows * kBar);
      for (auto& word : words)
        word = static_cast<uint16_t>(noise.next() >> 40);
      Bytes bytes(words.size() * logq / 8 + 32, kUntouched);
      kernels.pack(bytes.data(), words.data(), words.size(), logq);
      Bytes expected = packed_by_bits(words, logq);
      expected.resize(bytes.size(), kUntouched);
      EXPECT_EQ(bytes, expected) << logq << " " << rows;
      const Bytes exact(expected.begin(), expected.end() - 32);
      Words unpacked(words.size() + 32, kUntouched);
      kernels.unpack(unpacked.data(), exact.data(), words.size(), logq);
      for (auto& word : words)
        word &= static_cast<uint16_t>((1u << logq) - 1);
      words.resize(unpacked.size(), kUntouched);
      EXPECT_EQ(unpacked, words) << logq << " " << rows;
    }
  }
}

void expect_transposed(const Kernels& kernels) {
  test::Noise noise(6);
  for (const FrodoParams* p : kParams) {
    const Bytes bytes = noise.bytes(p->packed_bytes(p->n * kBar));
    Words rows(p->n * kBar), columns(kBar * (p->n + 9));
    kKernelsRef.unpack(rows.data(), bytes.data(), rows.size(), p->logq);
    kernels.unpack_transposed({columns.data(), p->n + 9}, bytes.data(), p->n, p->logq);
    for (size_t k = 0; k < p->n; ++k) {
      for (size_t j = 0; j < kBar; ++j)
        ASSERT_EQ(columns[j * (p->n + 9) + k], rows[k * kBar + j]) << p->n << ": " << k << ", " << j;
    }
  }
}

TEST(FrodoRef, Packing) {
  expect_packing(kKernelsRef);
  expect_transposed(kKernelsRef);
}

class FrodoTest : public test::IsaTest {
 protected:
  static const Kernels& kernels() { return POLYKEM_SHA3_TABLE(kKernels); }
};

TEST_P(FrodoTest, SamplesEveryWord) {
  expect_samples(kernels());
}

TEST_P(FrodoTest, SamplesEveryCount) {
  for (size_t count = 1; count < 70; ++count) {
    Words words(count + 1, 0x8181), expected = words;
    kernels().sample(words.data(), count, kFrodo976.cdf);
    kKernelsRef.sample(expected.data(), count, kFrodo976.cdf);
    EXPECT_EQ(words, expected) << count;
  }
}

TEST_P(FrodoTest, Packing) {
  expect_packing(kernels());
  expect_transposed(kernels());
}

POLYKEM_EVERY_SHA3_ISA(FrodoTest);

}  // namespace
}  // namespace polykem::frodo
