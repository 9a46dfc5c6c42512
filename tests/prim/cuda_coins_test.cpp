// SPDX-License-Identifier: Apache-2.0
// The block function of the device's generator, compiled for the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "prim/drbg/cuda/coin_block.hpp"

namespace polykem::cuda {
namespace {

/// [RFC8439, 2.3.2]
TEST(ChaCha20, BlockOfTheStandard) {
  std::array<uint32_t, 8> key{};
  for (uint32_t j = 0; j < 32; ++j)
    key[j / 4] |= j << (8 * (j % 4));
  uint32_t block[kChaChaWords];
  chacha20_block(block, key.data(), 1, 0x09000000, 0x4a000000, 0);
  constexpr uint32_t kExpected[] = {0xe4e7f110, 0x15593bd1, 0x1fdd0f50, 0xc47120a3, 0xc7f4d1c7, 0x0368c033,
                                    0x9aaa2204, 0x4e6cd4c3, 0x466482d2, 0x09aa9f07, 0x05d7c214, 0xa2028bd9,
                                    0xd19c12b5, 0xb94e16de, 0xe883d0cb, 0x4e3c50a2};
  EXPECT_TRUE(std::equal(std::begin(block), std::end(block), kExpected));
}

/// [RFC8439, A.1], test vector 5. The vector above has zero there.
TEST(ChaCha20, LastWordOfTheNonce) {
  const std::array<uint32_t, 8> key{};
  uint32_t block[kChaChaWords];
  chacha20_block(block, key.data(), 0, 0, 0, 0x02000000);
  constexpr uint32_t kExpected[] = {0x374dc6c2, 0x3736d58c, 0xb904e24a, 0xcd3f93ef, 0x88228b1a, 0x96a4dfb3,
                                    0x5b76ab72, 0xc727ee54, 0x0e0e978a, 0xf3145c95, 0x1b748ea8, 0xf786c297,
                                    0x99c28f5f, 0x628314e8, 0x398a19fa, 0x6ded1b53};
  EXPECT_TRUE(std::equal(std::begin(block), std::end(block), kExpected));
}

/// The item fills two words of the nonce, and the domain the third.
TEST(CoinBlock, InputsAreThoseOfChaCha20) {
  const std::array<uint32_t, 8> seed{1, 2, 3, 4, 5, 6, 7, 8};
  for (const auto domain : {CoinDomain::kKeygen, CoinDomain::kEncaps, CoinDomain::kSign, CoinDomain::kPart}) {
    uint32_t block[kChaChaWords], expected[kChaChaWords];
    make_coin_block(block, seed.data(), domain, 0x0123456789abcdef, 42);
    chacha20_block(expected, seed.data(), 42, 0x89abcdef, 0x01234567, static_cast<uint32_t>(domain));
    EXPECT_TRUE(std::equal(std::begin(block), std::end(block), expected));
  }
}

}  // namespace
}  // namespace polykem::cuda
