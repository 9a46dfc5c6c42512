// SPDX-License-Identifier: Apache-2.0
// Compares every backend of Saber with the reference: all operations, full and partial blocks, keys per item, shared
// and expanded keys.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "batch_result.hpp"
#include "core/backend.hpp"
#include "engine/chunk.hpp"
#include "schemes/registry.hpp"
#include "schemes/saber/saber.hpp"
#include "support/isa.hpp"

namespace polykem {
namespace {

using testing::AlignedBuffer;
using testing::begins_with;
using testing::kCounts;
using testing::kMax;
using testing::Noise;
using testing::Result;
using testing::run;
using Bytes = std::vector<uint8_t>;

/// Keys, of which some hold arbitrary bytes, and ciphertexts, some of which belong to another key.
struct Inputs {
  Bytes keygen_coins, encaps_coins, pk, sk, ct;

  explicit Inputs(const Scheme& s) {
    Noise noise(s.public_key_bytes);
    const SchemeBackend& ref = *cpu_backend(s, cpu::kRef);
    keygen_coins = noise.bytes(kMax * s.keygen_coin_bytes);
    encaps_coins = noise.bytes(kMax * s.encaps_coin_bytes);
    const Result keys = run(s, ref, Op::kKeygen, {.count = kMax, .coins = keygen_coins.data()});
    pk = keys.pk;
    sk = keys.sk;
    ct = run(s, ref, Op::kEncaps, {.count = kMax, .coins = encaps_coins.data(), .pk = pk.data()}).ct;
    for (size_t i = 3; i + 3 < kMax; i += 11) {
      ct[i * s.ciphertext_bytes + i] ^= 0x80;
      std::fill_n(&pk[(i + 1) * s.public_key_bytes], s.public_key_bytes, static_cast<uint8_t>(0xff));
      std::fill_n(&sk[(i + 2) * s.secret_key_bytes], s.secret_key_bytes, static_cast<uint8_t>(0xff));
      const Bytes any = noise.bytes(s.secret_key_bytes);
      std::copy(any.begin(), any.end(), &sk[(i + 3) * s.secret_key_bytes]);
    }
  }
};

class SaberLanesTest : public testing::IsaTest {
 protected:
  static const char* name() { return testing::backend_name(GetParam()); }

  /// Batches of every size from the beginning of `most` must equal the reference's results for all of it.
  static void expect_same(const Scheme& s, Op op, const BatchView& most, const char* what) {
    const Result want = run(s, *cpu_backend(s, cpu::kRef), op, most);
    for (const size_t count : kCounts) {
      BatchView batch = most;
      batch.count = count;
      EXPECT_TRUE(begins_with(want, run(s, *cpu_backend(s, name()), op, batch)))
          << s.name << " " << what << " " << count;
    }
  }
};

TEST_P(SaberLanesTest, OperationsAgreeWithReference) {
  for (const Scheme& s : saber::schemes()) {
    const Inputs in(s);
    expect_same(s, Op::kKeygen, {.count = kMax, .coins = in.keygen_coins.data()}, "keygen");
    for (const bool shared : {false, true}) {
      expect_same(s, Op::kEncaps,
                  {.count = kMax, .shared_key = shared, .coins = in.encaps_coins.data(), .pk = in.pk.data()}, "encaps");
      expect_same(s, Op::kDecaps, {.count = kMax, .shared_key = shared, .sk = in.sk.data(), .ct = in.ct.data()},
                  "decaps");
    }
  }
}

TEST_P(SaberLanesTest, ExpandedKeysGiveTheSame) {
  for (const Scheme& s : saber::schemes()) {
    const Inputs in(s);
    const SchemeBackend& backend = *cpu_backend(s, name());
    std::vector<size_t> index(kMax);
    for (size_t i = 0; i < kMax; ++i)
      index[i] = i * 29 % kMax;
    for (const Op op : {Op::kEncaps, Op::kDecaps}) {
      const ExpandedKeyFormat& format = op == Op::kEncaps ? backend.expanded_public_key : backend.expanded_secret_key;
      const Bytes& records = op == Op::kEncaps ? in.pk : in.sk;
      const size_t bytes = op == Op::kEncaps ? s.public_key_bytes : s.secret_key_bytes;
      ASSERT_EQ(format.bytes % 64, 0u);
      AlignedBuffer<std::byte> expanded(kMax * format.bytes), workspace(format.workspace_bytes(kMax) + 64);
      format.expand(expanded.data(), records.data(), kMax, workspace.data());
      for (const bool shared : {false, true}) {
        Bytes gathered;
        for (size_t i = 0; i < kMax; ++i) {
          const uint8_t* record = &records[(shared ? 5 : index[i]) * bytes];
          gathered.insert(gathered.end(), record, record + bytes);
        }
        BatchView batch{.count = kMax, .shared_key = shared};
        (op == Op::kEncaps ? batch.pk : batch.sk) = gathered.data();
        (op == Op::kEncaps ? batch.coins : batch.ct) = op == Op::kEncaps ? in.encaps_coins.data() : in.ct.data();
        const Result want = run(s, *cpu_backend(s, cpu::kRef), op, batch);
        batch.expanded = {.data = expanded.data() + (shared ? 5 * format.bytes : 0),
                          .bytes = format.bytes,
                          .shared = shared,
                          .index = shared ? nullptr : index.data()};
        for (const size_t count : kCounts) {
          batch.count = count;
          EXPECT_TRUE(begins_with(want, run(s, backend, op, batch))) << s.name << " " << count << " " << shared;
        }
      }
    }
  }
}

POLYKEM_EVERY_SHA3_ISA(SaberLanesTest);

}  // namespace
}  // namespace polykem
