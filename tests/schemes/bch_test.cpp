// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <bitset>
#include <cstring>
#include <vector>

#include "schemes/lac/bch/bch.hpp"
#include "support/isa.hpp"

namespace polykem {
namespace {

using test::Bytes;

/// Generators of LAC's tables, highest coefficient first.
constexpr const char* kGenerators[] = {"1b8ba069b8b1ffe26e5", "12b6bd0545db34c1e01d5296e58c8ed2701ad"};

std::vector<int> generator(size_t errors) {
  const std::string hex = kGenerators[errors == 8 ? 0 : 1];
  std::vector<int> bits;
  for (const char digit : hex) {
    const int value = std::stoi(std::string(1, digit), nullptr, 16);
    for (int k = 3; k >= 0; --k)
      bits.push_back(value >> k & 1);
  }
  bits.erase(bits.begin(), std::find(bits.begin(), bits.end(), 1));
  return bits;
}

/// Computes message x^deg mod g by long division, most significant bit of each byte first.
Bytes divided(const Bytes& message, size_t errors) {
  const std::vector<int> g = generator(errors);
  std::vector<int> rest;
  for (const uint8_t byte : message) {
    for (int k = 7; k >= 0; --k)
      rest.push_back(byte >> k & 1);
  }
  const size_t bits = rest.size();
  rest.resize(bits + g.size() - 1);
  for (size_t i = 0; i < bits; ++i) {
    if (rest[i] == 0) continue;
    for (size_t j = 0; j < g.size(); ++j)
      rest[i + j] ^= g[j];
  }
  Bytes parity((g.size() - 1) / 8);
  for (size_t i = 0; i < 8 * parity.size(); ++i)
    parity[i / 8] = static_cast<uint8_t>(parity[i / 8] | rest[bits + i] << (7 - i % 8));
  return parity;
}

Bytes encoded(const BchFunctions& bch, const Bytes& message) {
  Bytes code = message;
  code.resize(bch.code_bytes());
  bch.encode(&code[kBchMessageBytes], message.data());
  return code;
}

Bytes decoded(const BchFunctions& bch, const Bytes& code) {
  Bytes message(kBchMessageBytes);
  bch.decode(message.data(), code.data());
  return message;
}

/// Inverts `errors` different bits of the code word, sometimes neighbouring ones.
Bytes disturbed(Bytes code, size_t errors, test::Noise& noise) {
  std::bitset<512> wrong;
  const size_t bits = 8 * code.size();
  if (noise.next() % 5 == 0) {
    const size_t first = noise.next() % (bits - errors + 1);
    for (size_t i = 0; i < errors; ++i)
      wrong.set(first + i);
  }
  while (wrong.count() < errors)
    wrong.set(noise.next() % bits);
  for (size_t i = 0; i < bits; ++i)
    code[i / 8] = static_cast<uint8_t>(code[i / 8] ^ wrong[i] << (i % 8));
  return code;
}

void expect_correct_code(const BchFunctions& bch) {
  test::Noise noise(bch.errors);
  std::vector<Bytes> messages{Bytes(kBchMessageBytes), Bytes(kBchMessageBytes, 0xff)};
  for (int i = 0; i < 30; ++i)
    messages.push_back(noise.bytes(kBchMessageBytes));
  for (size_t i = 0; i < 256; ++i) {
    messages.emplace_back(kBchMessageBytes);
    messages.back()[i / 8] = static_cast<uint8_t>(1u << (i % 8));
  }
  for (const Bytes& message : messages) {
    const Bytes code = encoded(bch, message);
    ASSERT_EQ(Bytes(code.begin() + kBchMessageBytes, code.end()), divided(message, bch.errors));
    ASSERT_EQ(decoded(bch, code), message);
  }
}

/// Every single error and every pair of the first message, then samples of each number up to t.
void expect_corrected(const BchFunctions& bch, int samples) {
  test::Noise noise(7 * bch.errors);
  const Bytes message = noise.bytes(kBchMessageBytes), code = encoded(bch, message);
  const size_t bits = 8 * code.size();
  for (size_t i = 0; i < bits; ++i) {
    for (size_t j = i; j < bits; j += 1 + (j == i ? 0 : samples < 1000 ? 16 : 0)) {
      Bytes received = code;
      received[i / 8] = static_cast<uint8_t>(received[i / 8] ^ 1u << (i % 8));
      if (j != i) received[j / 8] = static_cast<uint8_t>(received[j / 8] ^ 1u << (j % 8));
      ASSERT_EQ(decoded(bch, received), message) << i << " " << j;
    }
  }
  for (size_t errors = 3; errors <= bch.errors; ++errors) {
    for (int i = 0; i < samples; ++i) {
      const Bytes other = noise.bytes(kBchMessageBytes);
      ASSERT_EQ(decoded(bch, disturbed(encoded(bch, other), errors, noise)), other) << errors << " errors";
    }
  }
}

/// Beyond t errors the result is that of the portable code, from t + 1 errors to noise, and never outside its 32 bytes.
void expect_the_portable_result_beyond(const BchFunctions& bch, const BchFunctions& portable) {
  test::Noise noise(11 * bch.errors);
  size_t missed = 0;
  const auto compare = [&](const Bytes& received, const Bytes& message) {
    Bytes out(kBchMessageBytes + 64, 0xab);
    bch.decode(out.data() + 32, received.data());
    EXPECT_TRUE(std::all_of(out.begin(), out.begin() + 32, [](uint8_t x) { return x == 0xab; }));
    EXPECT_TRUE(std::all_of(out.end() - 32, out.end(), [](uint8_t x) { return x == 0xab; }));
    const Bytes got(out.begin() + 32, out.end() - 32);
    ASSERT_EQ(got, decoded(portable, received));
    missed += got != message ? 1 : 0;
  };
  for (size_t errors = bch.errors + 1; errors <= bch.errors + 40; ++errors) {
    for (int i = 0; i < 25; ++i) {
      const Bytes message = noise.bytes(kBchMessageBytes);
      compare(disturbed(encoded(bch, message), errors, noise), message);
    }
  }
  EXPECT_GT(missed, 900u);  // a few have all wrong bits in the parity
  for (int i = 0; i < 500; ++i)
    compare(noise.bytes(bch.code_bytes()), {});
  for (const uint8_t fill : Bytes{0x00, 0x01, 0x55, 0x80, 0xff})
    compare(Bytes(bch.code_bytes(), fill), {});
}

TEST(BchPortable, CodeWordsAreThoseOfTheGenerators) {
  expect_correct_code(kBch8Portable);
  expect_correct_code(kBch16Portable);
}

TEST(BchPortable, CorrectsUpToT) {
  expect_corrected(kBch8Portable, 200);
  expect_corrected(kBch16Portable, 200);
}

TEST(BchPortable, BeyondTItGivesSomeMessageAndWritesNothingElse) {
  expect_the_portable_result_beyond(kBch8Portable, kBch8Portable);
  expect_the_portable_result_beyond(kBch16Portable, kBch16Portable);
}

#ifndef __aarch64__

class BchTest : public test::IsaTest {
 protected:
  static const BchFunctions& bch8() { return pick(kBch8Avx2, kBch8Avx512); }
  static const BchFunctions& bch16() { return pick(kBch16Avx2, kBch16Avx512); }
};

TEST_P(BchTest, CodeWordsAreThoseOfTheGenerators) {
  expect_correct_code(bch8());
  expect_correct_code(bch16());
}

TEST_P(BchTest, CorrectsUpToT) {
  expect_corrected(bch8(), 1000);
  expect_corrected(bch16(), 1000);
}

TEST_P(BchTest, BeyondTTheResultIsThatOfThePortableForm) {
  expect_the_portable_result_beyond(bch8(), kBch8Portable);
  expect_the_portable_result_beyond(bch16(), kBch16Portable);
}

POLYKEM_EVERY_ISA(BchTest);

#endif

}  // namespace
}  // namespace polykem
