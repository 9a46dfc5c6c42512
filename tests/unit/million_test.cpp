// SPDX-License-Identifier: Apache-2.0
// A batch of a million, or of ten thousand of the largest set, needs at most 64 MB beyond its own inputs and outputs.
#include <cstring>

#include "support/batch.hpp"
#include "support/memory.hpp"

namespace polykem::test {
namespace {

TEST(Million, EncapsulationsToOneKeyStayWithin64Megabytes) {
  const size_t count = 1000000;
  const Context context = make_context(nullptr, 2);
  const auto* set = scheme("ntruhps2048509");
  const auto sizes = info(set);
  const Exchange one(context.get(), set, 1);
  Bytes ct(count * sizes.ciphertext_bytes, 1), sent(count * 32, 1);
  const MemoryRise rise;
  if (!rise.measures()) GTEST_SKIP() << MemoryRise::kWhyNot;
  ASSERT_EQ(
      polykem_encaps(context.get(), set, count, POLYKEM_KEY_SHARED, one.pk.data(), ct.data(), sent.data(), nullptr),
      POLYKEM_OK);
  EXPECT_LE(rise.kilobytes(), 64u * 1024) << "kB";

  const size_t sample = 1000, from = count - sample;  // the end of the batch, which the last chunks computed
  Bytes received(sample * 32);
  ASSERT_EQ(polykem_decaps(context.get(), set, sample, POLYKEM_KEY_SHARED, one.sk.data(),
                           &ct[from * sizes.ciphertext_bytes], received.data(), nullptr),
            POLYKEM_OK);
  EXPECT_EQ(0, std::memcmp(received.data(), &sent[from * 32], received.size()));
}

/// What every operation of the largest set needs, with a key per item. The matrix of one key alone would be 3.6 MB.
class Large : public testing::TestWithParam<size_t> {
 protected:
  void SetUp() override {
    if (std::strcmp(polykem_context_backend(context_.get(), set_), "ref") == 0) GTEST_SKIP() << "takes minutes on ref";
    if (!MemoryRise().measures()) GTEST_SKIP() << MemoryRise::kWhyNot;
  }

  size_t kilobytes_for(size_t count) {
    const auto sizes = info(set_);
    Bytes pk(count * sizes.public_key_bytes, 1), sk(count * sizes.secret_key_bytes, 1);
    Bytes ct(count * sizes.ciphertext_bytes, 1);
    Bytes sent(count * sizes.shared_secret_bytes, 1), received(sent.size(), 1);
    const MemoryRise rise;
    EXPECT_EQ(polykem_keygen(context_.get(), set_, count, pk.data(), sk.data()), POLYKEM_OK);
    EXPECT_EQ(
        polykem_encaps(context_.get(), set_, count, POLYKEM_KEY_PER_ITEM, pk.data(), ct.data(), sent.data(), nullptr),
        POLYKEM_OK);
    EXPECT_EQ(polykem_decaps(context_.get(), set_, count, POLYKEM_KEY_PER_ITEM, sk.data(), ct.data(), received.data(),
                             nullptr),
              POLYKEM_OK);
    const size_t kilobytes = rise.kilobytes();
    EXPECT_TRUE(received == sent);
    return kilobytes;
  }

  const Context context_ = make_context(nullptr, 2);
  const polykem_scheme* const set_ = scheme("frodokem1344aes");
};

TEST_P(Large, BatchesStayWithin64MegabytesAndTakeNoMoreThanSmallOnes) {
  const size_t small = kilobytes_for(300), large = kilobytes_for(GetParam());
  EXPECT_LE(large, 64u * 1024) << "kB";
  EXPECT_LE(large, small + 4u * 1024) << "kB";
}

INSTANTIATE_TEST_SUITE_P(Of, Large, testing::Values(1000), testing::PrintToStringParamName());
INSTANTIATE_TEST_SUITE_P(Full, Large, testing::Values(10000), testing::PrintToStringParamName());

}  // namespace
}  // namespace polykem::test
