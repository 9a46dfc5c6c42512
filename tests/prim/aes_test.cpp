// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "core/cpu_features.hpp"
#include "prim/aes/aes256_ctr.hpp"
#include "prim/drbg/drbg.hpp"
#include "support/isa.hpp"

namespace polykem {
namespace {

using test::Bytes;
using test::from_hex;

#ifdef __aarch64__
constexpr Aes256Ctr kStreamNeon = aes256_ctr_neon;
#else
constexpr Aes256Ctr kStreamAvx2 = aes256_ctr_avx2, kStreamAvx512 = aes256_ctr_avx512;
#endif

class AesCtrTest : public test::IsaTest {
 protected:
  static Aes256Ctr keystream() { return POLYKEM_AES_TABLE(kStream); }

  static Bytes stream(const Bytes& key, size_t length, uint64_t nonce, uint64_t counter) {
    Bytes out(length);
    keystream()(out.data(), length, key.data(), nonce, counter);
    return out;
  }
};

TEST_P(AesCtrTest, ExampleOfFips197) {
  const Bytes key = from_hex("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f");
  EXPECT_EQ(stream(key, 16, 0x7766554433221100, 0x8899aabbccddeeff), from_hex("8ea2b7ca516745bfeafc49904b496089"));
}

TEST_P(AesCtrTest, ExampleOfSp80038a) {
  const Bytes key = from_hex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4");
  EXPECT_EQ(stream(key, 64, 0xf7f6f5f4f3f2f1f0, 0xf8f9fafbfcfdfeff),
            from_hex("0bdf7df1591716335e9a8b15c860c5025a6e699d536119065433863c8f657b94"
                     "1bc12c9c01610d5d0d8bd6a3378eca622956e1c8693536b1bee99c73a31576b6"));
}

TEST(AesCtrPortable, KnownAnswers) {
  uint8_t out[64];
  const Bytes key = from_hex("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f");
  aes256_ctr_portable(out, 16, key.data(), 0x7766554433221100, 0x8899aabbccddeeff);
  EXPECT_EQ(Bytes(out, out + 16), from_hex("8ea2b7ca516745bfeafc49904b496089"));
  const Bytes other = from_hex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4");
  aes256_ctr_portable(out, 64, other.data(), 0xf7f6f5f4f3f2f1f0, 0xf8f9fafbfcfdfeff);
  EXPECT_EQ(Bytes(out, out + 64), from_hex("0bdf7df1591716335e9a8b15c860c5025a6e699d536119065433863c8f657b94"
                                           "1bc12c9c01610d5d0d8bd6a3378eca622956e1c8693536b1bee99c73a31576b6"));
}

TEST(AesCtrOfCpu, IsTheWidest) {
#ifdef __aarch64__
  EXPECT_EQ(aes256_ctr_of_cpu(), cpu_features().has(CpuFeatures::kAes) ? aes256_ctr_neon : nullptr);
#else
  const Aes256Ctr narrower = cpu_features().avx2() ? aes256_ctr_avx2 : nullptr;
  EXPECT_EQ(aes256_ctr_of_cpu(), cpu_features().avx512() ? aes256_ctr_avx512 : narrower);
#endif
}

TEST_P(AesCtrTest, GivesThePortableStream) {
  test::Noise noise(4);
  for (size_t length = 0; length < 700; length += 7) {
    const Bytes key = noise.bytes(kAes256KeyBytes);
    Bytes want(length + 3, 5);
    aes256_ctr_portable(want.data(), length, key.data(), length, ~uint64_t{0} - 2);
    want.resize(length);
    EXPECT_EQ(stream(key, length, length, ~uint64_t{0} - 2), want) << length;
  }
}

TEST_P(AesCtrTest, EveryLengthIsABeginningOfTheSameStream) {
  test::Noise noise(1);
  const Bytes key = noise.bytes(kAes256KeyBytes);
  constexpr size_t kMax = 1200;
  constexpr uint64_t kCounter = ~uint64_t{0} - 20;  // goes through 0
  Bytes blocks;
  for (uint64_t i = 0; i < kMax / kAesBlockBytes; ++i) {
    const Bytes block = stream(key, kAesBlockBytes, 5, kCounter + i);
    blocks.insert(blocks.end(), block.begin(), block.end());
  }
  for (size_t length = 0; length <= kMax; ++length) {
    ASSERT_EQ(stream(key, length, 5, kCounter), Bytes(blocks.begin(), blocks.begin() + static_cast<long>(length)));
  }
}

TEST_P(AesCtrTest, WritesNothingAfterTheEnd) {
  const Bytes key(kAes256KeyBytes, 1);
  for (size_t length : {0, 1, 15, 16, 17, 63, 64, 65, 127, 511, 513}) {
    Bytes out(length + 600, 0xab);
    keystream()(out.data(), length, key.data(), 0, 0);
    EXPECT_TRUE(std::all_of(out.begin() + static_cast<long>(length), out.end(), [](uint8_t x) { return x == 0xab; }));
  }
}

TEST_P(AesCtrTest, DrbgNeverRepeats) {
  std::set<std::string> seen;
  for (int generator = 0; generator < 4; ++generator) {
    Drbg drbg(kSystemSources, keystream());
    ASSERT_EQ(drbg.prepare(), Status::kOk);
    for (int i = 0; i < 50; ++i) {
      Bytes out(32 + static_cast<size_t>(i % 3) * 1000);
      drbg.fill(out);
      EXPECT_TRUE(seen.emplace(out.begin(), out.begin() + 32).second);
    }
  }
}

TEST_P(AesCtrTest, DrbgBitsAreBalanced) {
  Drbg drbg(kSystemSources, keystream());
  ASSERT_EQ(drbg.prepare(), Status::kOk);
  Bytes out(1 << 16);
  drbg.fill(out);
  size_t ones = 0;
  for (const uint8_t byte : out)
    ones += static_cast<size_t>(__builtin_popcount(byte));
  EXPECT_NEAR(static_cast<double>(ones), 4.0 * static_cast<double>(out.size()), 6 * 362);  // six sigma
}

POLYKEM_EVERY_AES_ISA(AesCtrTest);

}  // namespace
}  // namespace polykem
