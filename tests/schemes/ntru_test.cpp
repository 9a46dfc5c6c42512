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

namespace polykem {
namespace {

using testing::AlignedBuffer;
using testing::Noise;
using Bytes = std::vector<uint8_t>;

struct Keys {
  Bytes pk, sk;
  bool operator==(const Keys&) const = default;
};

class NtruLanesTest : public testing::IsaTest {
 protected:
  static const char* name() { return testing::backend_name(GetParam()); }

  /// One chunk at a time, each in a workspace of noise.
  static Keys keygen(const Scheme& s, const char* backend, const Bytes& coins, Noise& noise) {
    const Operation& operation = cpu_backend(s, backend)->op(Op::kKeygen);
    const size_t count = coins.size() / s.keygen_coin_bytes;
    Keys keys{Bytes(count * s.public_key_bytes), Bytes(count * s.secret_key_bytes)};
    std::vector<Status> status(count, Status::kOk);
    BatchView all{.count = count, .coins = coins.data()};
    all.pk_out = keys.pk.data();
    all.sk_out = keys.sk.data();
    all.item_status = status.data();
    for (size_t first = 0; first < count; first += operation.chunk) {
      const Batch batch{all.slice(s.record_bytes(Op::kKeygen), first, std::min(operation.chunk, count - first))};
      const size_t bytes = operation.workspace_bytes(batch.count);
      AlignedBuffer<uint8_t> workspace(bytes);
      const Bytes dirt = noise.bytes(bytes);
      std::copy(dirt.begin(), dirt.end(), workspace.data());
      EXPECT_EQ(operation.run(operation.context, batch, reinterpret_cast<std::byte*>(workspace.data()), nullptr),
                Status::kOk);
    }
    return keys;
  }
};

TEST_P(NtruLanesTest, KeysDoNotDependOnTheWorkspace) {
  for (const Scheme& s : ntru::schemes()) {
    if (s.public_key_bytes > 1500) continue;  // the two large sets: the same code
    Noise noise(s.public_key_bytes);
    for (const size_t count : {size_t{20}, size_t{50}}) {
      const Bytes coins = noise.bytes(count * s.keygen_coin_bytes);
      EXPECT_TRUE(keygen(s, name(), coins, noise) == keygen(s, cpu::kRef, coins, noise)) << s.name << " " << count;
    }
  }
}

POLYKEM_EVERY_SHA3_ISA(NtruLanesTest);

/// Compares items, one after the other, on the backend with matrix tiles with the reference.
class NtruSingleTest : public ::testing::TestWithParam<size_t> {
 protected:
  static constexpr size_t kMax = 40;

  struct Records {
    Bytes pk, sk, ct, ss;
  };

  void SetUp() override {
    if (!cpu_backend_available(cpu::kAmx)) GTEST_SKIP() << "this CPU lacks what amx needs";
  }
  const Scheme& scheme() const { return ntru::schemes()[GetParam()]; }

  /// One chunk at a time, each in a workspace of noise.
  static Records run(const Scheme& s, const char* backend, Op op, BatchView all, Noise& noise, Drbg* drbg = nullptr) {
    const Operation& operation = cpu_backend(s, backend)->op(op);
    Records out{Bytes(all.count * s.public_key_bytes), Bytes(all.count * s.secret_key_bytes),
                Bytes(all.count * s.ciphertext_bytes), Bytes(all.count * s.shared_secret_bytes)};
    std::vector<Status> status(all.count, Status::kOk);
    all.pk_out = out.pk.data();
    all.sk_out = out.sk.data();
    all.ct_out = out.ct.data();
    all.ss_out = out.ss.data();
    all.item_status = status.data();
    for (size_t first = 0; first < all.count; first += operation.chunk) {
      const Batch batch{all.slice(s.record_bytes(op), first, std::min(operation.chunk, all.count - first)), drbg};
      const size_t bytes = operation.workspace_bytes(batch.count);
      AlignedBuffer<uint8_t> workspace(bytes);
      const Bytes dirt = noise.bytes(bytes);
      std::copy(dirt.begin(), dirt.end(), workspace.data());
      EXPECT_EQ(operation.run(operation.context, batch, reinterpret_cast<std::byte*>(workspace.data()), nullptr),
                Status::kOk);
    }
    return out;
  }

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

  static void expect_prefix(const Bytes& got, const Bytes& want, const char* what, size_t count) {
    EXPECT_TRUE(std::equal(got.begin(), got.end(), want.begin())) << what << " of " << count;
  }
};

TEST_P(NtruSingleTest, EveryCountAgreesWithTheReference) {
  const Scheme& s = scheme();
  Noise noise(GetParam());
  const Bytes keygen_coins = noise.bytes(kMax * s.keygen_coin_bytes);
  const Bytes encaps_coins = noise.bytes(kMax * s.encaps_coin_bytes);
  const BatchView make{.count = kMax, .coins = keygen_coins.data()};
  const Records keys = run(s, cpu::kRef, Op::kKeygen, make, noise);
  const BatchView send{.count = kMax, .coins = encaps_coins.data(), .pk = keys.pk.data()};
  const Records sent = run(s, cpu::kRef, Op::kEncaps, send, noise);
  Bytes ct = sent.ct;  // of each three: as it is, a bit flipped, the unused bits set
  for (size_t i = 1; i < kMax; i += 3)
    ct[i * s.ciphertext_bytes + 7 * i] ^= static_cast<uint8_t>(1 << i % 8);
  for (size_t i = 2; i < kMax; i += 3)
    ct[(i + 1) * s.ciphertext_bytes - 1] |= 0xf0;
  const BatchView receive{.count = kMax, .sk = keys.sk.data(), .ct = ct.data()};
  const Records received = run(s, cpu::kRef, Op::kDecaps, receive, noise);
  const size_t most = s.public_key_bytes > 1500 ? 3 : kMax;  // the two large sets: the same code
  for (size_t count = 1; count <= most; ++count) {
    const auto first = [count](BatchView batch) {
      batch.count = count;
      return batch;
    };
    const Records made = run(s, cpu::kAmx, Op::kKeygen, first(make), noise);
    expect_prefix(made.pk, keys.pk, "pk", count);
    expect_prefix(made.sk, keys.sk, "sk", count);
    const Records to = run(s, cpu::kAmx, Op::kEncaps, first(send), noise);
    expect_prefix(to.ct, sent.ct, "ct", count);
    expect_prefix(to.ss, sent.ss, "ss of encaps", count);
    expect_prefix(run(s, cpu::kAmx, Op::kDecaps, first(receive), noise).ss, received.ss, "ss of decaps", count);
  }
  for (const bool sending : {false, true}) {
    BatchView shared = sending ? send : receive;
    shared.shared_key = true;
    const Op op = sending ? Op::kEncaps : Op::kDecaps;
    EXPECT_EQ(run(s, cpu::kAmx, op, shared, noise).ss, run(s, cpu::kRef, op, shared, noise).ss);
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
    const Records keys = run(s, cpu::kRef, Op::kKeygen, {.count = count, .coins = keygen_coins.data()}, noise);
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
    const Records want =
        run(s, cpu::kRef, Op::kEncaps, {.count = count, .coins = coins.data(), .pk = keys.pk.data()}, noise);
    const Records got = run(s, cpu::kAmx, Op::kEncaps, {.count = count, .pk = keys.pk.data()}, noise, &one);
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
  const Records keys = run(s, cpu::kAmx, Op::kKeygen, make, noise), want = run(s, cpu::kRef, Op::kKeygen, make, noise);
  EXPECT_EQ(keys.pk, want.pk);
  EXPECT_EQ(keys.sk, want.sk);
}

INSTANTIATE_TEST_SUITE_P(Sets, NtruSingleTest, ::testing::Range(size_t{0}, size_t{6}),
                         [](const auto& info) { return std::string(ntru::schemes()[info.param].name); });

}  // namespace
}  // namespace polykem
