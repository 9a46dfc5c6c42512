// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "prim/aes/aes128.hpp"
#include "support/isa.hpp"

namespace polykem {
namespace {

using test::Bytes;
using test::from_hex;

Bytes encrypted(const Aes128Functions& aes, const Bytes& key, const Bytes& blocks) {
  Bytes out(blocks.size());
  aes.encrypt(out.data(), blocks.data(), blocks.size() / kAes128BlockBytes, key.data());
  return out;
}

// FIPS 197, appendix B and appendix C.1 of its first edition.
void expect_examples_of_fips197(const Aes128Functions& aes) {
  EXPECT_EQ(encrypted(aes, from_hex("2b7e151628aed2a6abf7158809cf4f3c"), from_hex("3243f6a8885a308d313198a2e0370734")),
            from_hex("3925841d02dc09fbdc118597196a0b32"));
  EXPECT_EQ(encrypted(aes, from_hex("000102030405060708090a0b0c0d0e0f"), from_hex("00112233445566778899aabbccddeeff")),
            from_hex("69c4e0d86a7b0430d8cdb78070b4c55a"));
}

// SP 800-38A, F.1.1: four blocks.
void expect_example_of_sp80038a(const Aes128Functions& aes) {
  EXPECT_EQ(encrypted(aes, from_hex("2b7e151628aed2a6abf7158809cf4f3c"),
                      from_hex("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
                               "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710")),
            from_hex("3ad77bb40d7a3660a89ecaf32466ef97f5d3d58503b9699de785895a96fdbaaf"
                     "43b1cd7f598ece23881b00e3ed0306887b0c785e27e8ad3f8223207104725dd4"));
}

TEST(Aes128Portable, KnownAnswers) {
  expect_examples_of_fips197(kAes128Portable);
  expect_example_of_sp80038a(kAes128Portable);
}

class Aes128Test : public test::IsaTest {
 protected:
#ifdef __aarch64__
  static const Aes128Functions& aes() {
    return POLYKEM_AES_TABLE(kAes128);
  }
#else
  static const Aes128Functions& aes() {
    return GetParam() == test::Isa::kAvx2Vaes ? kAes128Avx2Vaes : POLYKEM_AES_TABLE(kAes128);
  }
#endif
};

TEST_P(Aes128Test, KnownAnswers) {
  expect_examples_of_fips197(aes());
  expect_example_of_sp80038a(aes());
}

TEST_P(Aes128Test, EncryptsAsThePortableOne) {
  test::Noise noise(1);
  for (size_t blocks = 0; blocks <= 40; ++blocks) {
    const Bytes key = noise.bytes(kAes128KeyBytes), in = noise.bytes(blocks * kAes128BlockBytes);
    EXPECT_EQ(encrypted(aes(), key, in), encrypted(kAes128Portable, key, in)) << blocks;
  }
}

TEST_P(Aes128Test, EveryKeyAndBlockByte) {
  for (unsigned b = 0; b < 256; ++b) {
    const Bytes same(16, static_cast<uint8_t>(b)), zeros(16);
    EXPECT_EQ(encrypted(aes(), same, zeros), encrypted(kAes128Portable, same, zeros));
    EXPECT_EQ(encrypted(aes(), zeros, same), encrypted(kAes128Portable, zeros, same));
  }
}

TEST_P(Aes128Test, EncryptsInPlace) {
  test::Noise noise(2);
  const Bytes key = noise.bytes(16);
  Bytes blocks = noise.bytes(11 * 16);
  const Bytes expected = encrypted(kAes128Portable, key, blocks);
  aes().encrypt(blocks.data(), blocks.data(), 11, key.data());
  EXPECT_EQ(blocks, expected);
}

/// The grid as its description says, block by block.
std::vector<uint16_t> grid_by_blocks(const Bytes& key, size_t first_row, size_t rows, size_t columns) {
  std::vector<uint16_t> out;
  for (size_t i = first_row; i < first_row + rows; ++i) {
    for (size_t j = 0; j < columns; j += 8) {
      Bytes block(16);
      block[0] = static_cast<uint8_t>(i);
      block[1] = static_cast<uint8_t>(i >> 8);
      block[2] = static_cast<uint8_t>(j);
      block[3] = static_cast<uint8_t>(j >> 8);
      const Bytes words = encrypted(kAes128Portable, key, block);
      for (size_t w = 0; w < 16; w += 2)
        out.push_back(static_cast<uint16_t>(words[w] | words[w + 1] << 8));
    }
  }
  return out;
}

void expect_grid(const Aes128Functions& aes, size_t first_row, size_t rows, size_t columns) {
  test::Noise noise(first_row + columns);
  const Bytes key = noise.bytes(16);
  constexpr uint16_t kUntouched = 0xabcd;
  const size_t stride = columns + 5;
  std::vector<uint16_t> out(rows * stride, kUntouched);
  aes.grid(out.data(), stride, key.data(), first_row, rows, columns);
  const std::vector<uint16_t> expected = grid_by_blocks(key, first_row, rows, columns);
  for (size_t i = 0; i < rows; ++i) {
    for (size_t j = 0; j < stride; ++j)
      ASSERT_EQ(out[i * stride + j], j < columns ? expected[i * columns + j] : kUntouched) << i << ", " << j;
  }
}

TEST_P(Aes128Test, Grid) {
  for (const size_t columns : {8, 16, 24, 32, 40, 640, 976, 1344, 6144}) {
    for (const size_t rows : {1, 7, 8, 9, 16, 19})
      expect_grid(aes(), 250, rows, columns);  // rows beyond 255 take the second byte
  }
  expect_grid(aes(), 6143 - 16, 16, 64);
}

TEST(Aes128Portable, Grid) {
  for (const size_t columns : {8, 24, 64, 72, 976})
    expect_grid(kAes128Portable, 250, 9, columns);
}

POLYKEM_EVERY_AES_ISA(Aes128Test);
#ifndef __aarch64__
INSTANTIATE_TEST_SUITE_P(Vaes, Aes128Test, ::testing::Values(test::Isa::kAvx2Vaes),
                         [](const auto& info) { return std::string(test::isa_name(info.param)); });
#endif

}  // namespace
}  // namespace polykem
