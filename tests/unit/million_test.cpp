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

/// Every operation with a key per item. The matrix of one key alone would be 3.6 MB.
TEST(Large, TenThousandOfFrodo1344StayWithin64Megabytes) {
  const size_t count = 10000;
  const Context context = make_context(nullptr, 2);
  const auto* set = scheme("frodokem1344aes");
  if (std::strcmp(polykem_context_backend(context.get(), set), "ref") == 0) GTEST_SKIP() << "takes minutes on ref";
  const auto sizes = info(set);
  Bytes pk(count * sizes.public_key_bytes, 1), sk(count * sizes.secret_key_bytes, 1);
  Bytes ct(count * sizes.ciphertext_bytes, 1);
  Bytes sent(count * sizes.shared_secret_bytes, 1), received(sent.size(), 1);
  const MemoryRise rise;
  if (!rise.measures()) GTEST_SKIP() << MemoryRise::kWhyNot;
  ASSERT_EQ(polykem_keygen(context.get(), set, count, pk.data(), sk.data()), POLYKEM_OK);
  ASSERT_EQ(polykem_encaps(context.get(), set, count, POLYKEM_KEY_PER_ITEM, pk.data(), ct.data(), sent.data(), nullptr),
            POLYKEM_OK);
  ASSERT_EQ(
      polykem_decaps(context.get(), set, count, POLYKEM_KEY_PER_ITEM, sk.data(), ct.data(), received.data(), nullptr),
      POLYKEM_OK);
  EXPECT_LE(rise.kilobytes(), 64u * 1024) << "kB";
  EXPECT_TRUE(received == sent);
}

}  // namespace
}  // namespace polykem::test
