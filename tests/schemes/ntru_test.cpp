// SPDX-License-Identifier: Apache-2.0
// Compares NTRU's vector key generation with the reference, in workspaces with arbitrary contents: blocks that share
// inversions, one of them partial.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/backend.hpp"
#include "prim/drbg/drbg.hpp"
#include "schemes/ntru/ntru.hpp"
#include "schemes/registry.hpp"
#include "support/isa.hpp"
#include "support/kem_batches.hpp"

namespace polykem {
namespace {

using test::begins_with;
using test::Bytes;
using test::Noise;
using test::Result;
using test::run_on_noise;

class NtruLanesTest : public test::IsaTest {};

TEST_P(NtruLanesTest, KeysDoNotDependOnTheWorkspace) {
  for (const Scheme& s : ntru::schemes()) {
    if (s.public_key_bytes > 1500) continue;  // the two large sets: the same code
    Noise noise(s.public_key_bytes);
    for (const size_t count : {size_t{20}, size_t{50}}) {
      const Bytes coins = noise.bytes(count * s.keygen_coin_bytes);
      const auto keys = [&](const char* backend) {
        return run_on_noise(s, backend, Op::kKeygen, {.count = count, .coins = coins.data()}, noise);
      };
      EXPECT_TRUE(keys(test::backend_name(GetParam())) == keys(cpu::kRef)) << s.name << " " << count;
    }
  }
}

POLYKEM_EVERY_SHA3_ISA(NtruLanesTest);

/// Compares items, one after the other, on the backend with matrix tiles with the reference.
class NtruSingleTest : public ::testing::TestWithParam<size_t> {
 protected:
  void SetUp() override {
    if (!cpu_backend_available(cpu::kAmx)) GTEST_SKIP() << "this CPU lacks what amx needs";
  }
  const Scheme& scheme() const { return ntru::schemes()[GetParam()]; }

  /// A generator that returns the same numbers each time.
  static void prepare(Drbg& drbg) { ASSERT_EQ(drbg.prepare(), Status::kOk); }
  static constexpr DrbgSources kSameEachTime = {[](std::span<uint8_t> out) {
                                                  std::fill(out.begin(), out.end(), uint8_t{7});
                                                  return Status::kOk;
                                                },
                                                [] { return uint64_t{1}; }, [] { return uint64_t{1}; },
                                                [] { return uint64_t{0}; }};

  /// The degree of a set's ring, by the size of its coins. [NTRU20, Sample_rm]
  static size_t degree(const Scheme& s) {
    for (const size_t n : {509, 677, 701, 821, 1229, 1373}) {
      const size_t bytes = s.encaps_coin_bytes;
      if (bytes == 2 * (n - 1) || bytes == n - 1 + (30 * (n - 1) + 7) / 8) return n;
    }
    return 0;
  }
};

TEST_P(NtruSingleTest, EveryCountAgreesWithTheReference) {
  constexpr size_t kItems = 40;
  const Scheme& s = scheme();
  test::KemInputs in(s, kItems);
  for (size_t i = 1; i < kItems; i += 3)  // of each three ciphertexts one stays as it is
    in.ct[i * s.ciphertext_bytes + 7 * i] ^= static_cast<uint8_t>(1 << i % 8);
  for (size_t i = 2; i < kItems; i += 3)
    in.ct[(i + 1) * s.ciphertext_bytes - 1] |= 0xf0;           // unused bits
  const size_t most = s.public_key_bytes > 1500 ? 3 : kItems;  // the two large sets: the same code
  for (const Op op : {Op::kKeygen, Op::kEncaps, Op::kDecaps}) {
    BatchView batch = in.of(op);
    const Result want = run_on_noise(s, cpu::kRef, op, batch, in.noise);
    for (batch.count = 1; batch.count <= most; ++batch.count)
      EXPECT_TRUE(begins_with(want, run_on_noise(s, cpu::kAmx, op, batch, in.noise)))
          << "operation " << index_of_op(op) << " of " << batch.count;
    if (op == Op::kKeygen) continue;
    const BatchView shared = in.of(op, true);
    EXPECT_TRUE(run_on_noise(s, cpu::kAmx, op, shared, in.noise) == run_on_noise(s, cpu::kRef, op, shared, in.noise));
  }
}

/// Each chunk takes coins first for r of all items, then for m; in a whole chunk, during the product.
TEST_P(NtruSingleTest, EncapsTakesItsCoinsFromTheGenerator) {
  const Scheme& s = scheme();
  Noise noise(GetParam());
  const size_t chunk = cpu_backend(s, cpu::kAmx)->op(Op::kEncaps).chunk;
  const size_t r_bytes = degree(s) - 1, m_bytes = s.encaps_coin_bytes - r_bytes;
  for (const size_t count : {size_t{1}, size_t{2}, chunk + 3}) {
    const Bytes keygen_coins = noise.bytes(count * s.keygen_coin_bytes);
    const Result keys = run_on_noise(s, cpu::kRef, Op::kKeygen, {.count = count, .coins = keygen_coins.data()}, noise);
    Drbg one(kSameEachTime, aes256_ctr_portable), same(kSameEachTime, aes256_ctr_portable);
    prepare(one);
    prepare(same);
    Bytes coins(count * s.encaps_coin_bytes);
    for (size_t first = 0; first < count; first += chunk) {
      const size_t items = std::min(chunk, count - first);
      Bytes drawn(items * s.encaps_coin_bytes);
      same.fill(drawn);
      for (size_t i = 0; i < items; ++i) {
        uint8_t* const to = coins.data() + (first + i) * s.encaps_coin_bytes;
        std::copy_n(drawn.data() + i * r_bytes, r_bytes, to);
        std::copy_n(drawn.data() + items * r_bytes + i * m_bytes, m_bytes, to + r_bytes);
      }
    }
    const Result want =
        run_on_noise(s, cpu::kRef, Op::kEncaps, {.count = count, .coins = coins.data(), .pk = keys.pk.data()}, noise);
    const Result got = run_on_noise(s, cpu::kAmx, Op::kEncaps, {.count = count, .pk = keys.pk.data()}, noise, &one);
    EXPECT_EQ(got.ct, want.ct) << count;
    EXPECT_EQ(got.ss, want.ss) << count;
  }
}

TEST_P(NtruSingleTest, AKeyWithoutInverseSpoilsNoOther) {
  const Scheme& s = scheme();
  if (s.public_key_bytes > 1500) GTEST_SKIP() << "the two large sets: the same code";
  Noise noise(GetParam());
  constexpr size_t kCount = 5;
  Bytes coins = noise.bytes(kCount * s.keygen_coin_bytes);
  std::fill_n(coins.begin() + static_cast<long>(2 * s.keygen_coin_bytes), s.keygen_coin_bytes, uint8_t{0});  // f = 0
  const BatchView make{.count = kCount, .coins = coins.data()};
  const Result keys = run_on_noise(s, cpu::kAmx, Op::kKeygen, make, noise),
               want = run_on_noise(s, cpu::kRef, Op::kKeygen, make, noise);
  EXPECT_EQ(keys.pk, want.pk);
  EXPECT_EQ(keys.sk, want.sk);
}

INSTANTIATE_TEST_SUITE_P(Sets, NtruSingleTest, ::testing::Range(size_t{0}, size_t{6}),
                         [](const auto& info) { return std::string(ntru::schemes()[info.param].name); });

}  // namespace
}  // namespace polykem
