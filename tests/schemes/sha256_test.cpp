// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/cpu_features.hpp"
#include "schemes/lac/sha256/sha256.hpp"
#include "support/isa.hpp"

namespace polykem {
namespace {

using test::Bytes;

std::string hex_hash(Sha256 sha256, const std::string& text) {
  uint8_t hash[kSha256Bytes] = {};
  sha256({hash, 0}, {reinterpret_cast<const uint8_t*>(text.data()), 0}, text.size(), 1);
  std::string hex;
  for (const uint8_t byte : hash) {
    hex += "0123456789abcdef"[byte >> 4];
    hex += "0123456789abcdef"[byte & 15];
  }
  return hex;
}

/// NIST's examples [FIPS180]: one block, two blocks, many blocks; and the empty message.
void expect_known_answers(Sha256 sha256) {
  EXPECT_EQ(hex_hash(sha256, "abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex_hash(sha256, "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hex_hash(sha256, std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  EXPECT_EQ(hex_hash(sha256, ""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

/// Every length around the padding's borders, every count around the lanes; out may be in; no byte beside a hash.
void expect_the_hashes_of_the_portable_form(Sha256 sha256) {
  constexpr size_t kMax = 35, kStride = 300;
  test::Noise noise(3);
  const Bytes text = noise.bytes(kMax * kStride);
  for (size_t length = 0; length < 260; length += length < 140 ? 1 : 13) {
    for (const size_t count : {1, 2, 7, 8, 9, 15, 16, 17, 24, 31, 35}) {
      Bytes want(kMax * kStride, 7), got = want, place = text;
      sha256_portable({want.data(), kStride}, {text.data(), kStride}, length, count);
      sha256({got.data(), kStride}, {text.data(), kStride}, length, count);
      ASSERT_TRUE(got == want) << length << " bytes, " << count << " messages";
      sha256({place.data(), kStride}, {place.data(), kStride}, length, count);
      for (size_t i = 0; i < count; ++i)
        ASSERT_TRUE(std::equal(&place[i * kStride], &place[i * kStride] + kSha256Bytes, &want[i * kStride])) << length;
    }
  }
}

TEST(Sha256Portable, KnownAnswers) {
  expect_known_answers(sha256_portable);
}

TEST(Sha256Portable, HashesInPlaceAndWritesNothingElse) {
  expect_the_hashes_of_the_portable_form(sha256_portable);
}

#ifndef __aarch64__

class Sha256Test : public test::IsaTest {
 protected:
  static Sha256 lanes() { return GetParam() == test::Isa::kAvx2 ? sha256_avx2 : sha256_avx512; }
  static Sha256 best() { return GetParam() == test::Isa::kAvx2 ? sha256_dispatch_avx2 : sha256_dispatch_avx512; }
};

TEST_P(Sha256Test, KnownAnswers) {
  expect_known_answers(lanes());
  expect_known_answers(best());
}

TEST_P(Sha256Test, HashesAsThePortableOne) {
  expect_the_hashes_of_the_portable_form(lanes());
  expect_the_hashes_of_the_portable_form(best());
}

POLYKEM_EVERY_ISA(Sha256Test);

TEST(Sha256Ni, KnownAnswersAndThePortableOnes) {
  if (!cpu_features().has(CpuFeatures::kShaNi | CpuFeatures::kAvx2)) GTEST_SKIP() << "this CPU has no SHA-NI";
  expect_known_answers(sha256_ni);
  expect_the_hashes_of_the_portable_form(sha256_ni);
}

#endif

}  // namespace
}  // namespace polykem
