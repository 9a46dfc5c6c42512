// SPDX-License-Identifier: Apache-2.0
// Compares every backend of ML-KEM and Kyber with the reference: all operations, full and partial blocks, keys per
// item, shared and expanded keys, some of them malformed.
#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "batch_result.hpp"
#include "core/backend.hpp"
#include "engine/chunk.hpp"
#include "schemes/mlkem/mlkem.hpp"
#include "schemes/registry.hpp"
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

/// Keys, some of them malformed, and ciphertexts, some of which belong to another key.
struct Inputs {
  Bytes keygen_coins, encaps_coins, pk, sk, ct;
  size_t malformed_pk = 0, malformed_sk = 0;

  explicit Inputs(const Scheme& s) {
    Noise noise(s.public_key_bytes);
    const SchemeBackend& ref = *cpu_backend(s, cpu::kRef);
    keygen_coins = noise.bytes(kMax * s.keygen_coin_bytes);
    encaps_coins = noise.bytes(kMax * s.encaps_coin_bytes);
    const Result keys = run(s, ref, Op::kKeygen, {.count = kMax, .coins = keygen_coins.data()});
    pk = keys.pk;
    sk = keys.sk;
    ct = run(s, ref, Op::kEncaps, {.count = kMax, .coins = encaps_coins.data(), .pk = pk.data()}).ct;
    const size_t vector_bytes = s.public_key_bytes - 32;
    for (size_t i = 3; i + 2 < kMax; i += 11) {
      uint8_t* last_coefficient = &pk[i * s.public_key_bytes + vector_bytes - 2];
      last_coefficient[0] = static_cast<uint8_t>((last_coefficient[0] & 0x0f) | 0x10);  // q = 0xd01
      last_coefficient[1] = 0xd0;
      sk[i * s.secret_key_bytes + vector_bytes + i] ^= 1;                      // in ek
      sk[(i + 1) * s.secret_key_bytes + 2 * vector_bytes + 32 + i % 32] ^= 1;  // in H(ek)
      ct[(i + 2) * s.ciphertext_bytes + i] ^= 0x80;
      malformed_pk += 1;
      malformed_sk += 2;
    }
    pk[0] = 0xff;  // coefficient 0 of key 0 is 4095
    pk[1] |= 0x0f;
    malformed_pk += 1;
  }
};

class MlkemLanesTest : public testing::IsaTest {
 protected:
  static const char* name() { return testing::backend_name(GetParam()); }

  /// Batches from the beginning of `most` must equal the reference's results for all of it.
  static void expect_same(const Scheme& s, Op op, const BatchView& most, const char* what,
                          std::span<const size_t> counts = kCounts) {
    const Result want = run(s, *cpu_backend(s, cpu::kRef), op, most);
    for (const size_t count : counts) {
      BatchView batch = most;
      batch.count = std::min(count, most.count);
      EXPECT_TRUE(begins_with(want, run(s, *cpu_backend(s, name()), op, batch)))
          << s.name << " " << what << " " << batch.count;
    }
  }

  /// Two items, as the engine computes and profiles them, record the plan for small batches, in order.
  static void expect_recorded(const Scheme& s, const SchemeBackend& backend, Op op, const Inputs& in) {
    constexpr size_t kSmall = 2;
    Profile profile;
    profile.enable(true);
    Worker worker;
    Bytes out(kSmall * (s.secret_key_bytes + s.public_key_bytes + s.ciphertext_bytes + s.shared_secret_bytes));
    std::vector<Status> status(kSmall);
    BatchView items{.count = kSmall, .item_status = status.data()};
    items.coins = op == Op::kKeygen ? in.keygen_coins.data() : op == Op::kEncaps ? in.encaps_coins.data() : nullptr;
    items.pk = op == Op::kEncaps ? in.pk.data() : nullptr;
    items.sk = op == Op::kDecaps ? in.sk.data() : nullptr;
    items.ct = op == Op::kDecaps ? in.ct.data() : nullptr;
    items.ss_out = out.data();
    items.ct_out = items.ss_out + kSmall * s.shared_secret_bytes;
    items.pk_out = items.ct_out + kSmall * s.ciphertext_bytes;
    items.sk_out = items.pk_out + kSmall * s.public_key_bytes;
    (void)compute_chunk({s, op, false, true}, backend, items, worker, &profile);
    const auto records = profile.read();
    const auto steps = backend.op(op).small_batches[0].operation->steps;
    ASSERT_EQ(records.size(), steps.size()) << s.name;
    const bool ends_together = op == Op::kKeygen || (op == Op::kEncaps && !s.secret_seeds);  // Kyber has no seeds
    for (size_t i = 0; i < steps.size(); ++i) {
      EXPECT_STREQ(records[i].step, steps[i].name);
      EXPECT_STREQ(records[i].stages, stage_names(s.stages.of(op), steps[i]));
      EXPECT_EQ(records[i].total.items, kSmall);
      EXPECT_EQ(records[i].total.calls, ends_together && i + 1 == steps.size() ? 1 : kSmall);
    }
    worker.wipe();
  }
};

TEST_P(MlkemLanesTest, OperationsAgreeWithReference) {
  for (const Scheme& s : mlkem::schemes()) {
    const Inputs in(s);
    expect_same(s, Op::kKeygen, {.count = kMax, .coins = in.keygen_coins.data()}, "keygen");
    for (const bool shared : {false, true}) {
      expect_same(s, Op::kEncaps,
                  {.count = kMax, .shared_key = shared, .coins = in.encaps_coins.data(), .pk = in.pk.data()},
                  "encaps to a malformed key among them");
      expect_same(s, Op::kEncaps,
                  {.count = kMax - 1,
                   .shared_key = shared,
                   .coins = in.encaps_coins.data(),
                   .pk = in.pk.data() + s.public_key_bytes},
                  "encaps");
      expect_same(s, Op::kDecaps, {.count = kMax, .shared_key = shared, .sk = in.sk.data(), .ct = in.ct.data()},
                  "decaps");
    }
  }
}

TEST_P(MlkemLanesTest, MalformedKeysAreReportedAndTheirOutputsZero) {
  for (const Scheme& s : mlkem::schemes()) {
    const Inputs in(s);
    const bool checks = std::string(s.name).starts_with("mlkem");
    const auto encaps = run(s, *cpu_backend(s, name()), Op::kEncaps,
                            {.count = kMax, .coins = in.encaps_coins.data(), .pk = in.pk.data()});
    const auto decaps =
        run(s, *cpu_backend(s, name()), Op::kDecaps, {.count = kMax, .sk = in.sk.data(), .ct = in.ct.data()});
    const auto reported = [](const Result& r, Status status) {
      return std::count(r.status.begin(), r.status.end(), status);
    };
    EXPECT_EQ(reported(encaps, Status::kPublicKey), checks ? static_cast<long>(in.malformed_pk) : 0);
    EXPECT_EQ(reported(decaps, Status::kSecretKey), checks ? static_cast<long>(in.malformed_sk) : 0);
    for (size_t i = 0; i < kMax; ++i) {
      const auto is_zero = [&](const Bytes& bytes, size_t size) {
        return std::all_of(&bytes[i * size], &bytes[i * size] + size, [](uint8_t byte) { return byte == 0; });
      };
      EXPECT_EQ(is_zero(encaps.ct, s.ciphertext_bytes), encaps.status[i] != Status::kOk);
      EXPECT_EQ(is_zero(encaps.ss, 32), encaps.status[i] != Status::kOk);
      EXPECT_EQ(is_zero(decaps.ss, 32), decaps.status[i] != Status::kOk);
    }
  }
}

/// Changes byte `first` + i of item i.
TEST_P(MlkemLanesTest, EveryByteOfACiphertextCounts) {
  for (const Scheme& s : mlkem::schemes()) {
    const Inputs in(s);
    for (size_t first = 0; first < s.ciphertext_bytes; first += kMax) {
      Bytes ct = in.ct;
      for (size_t i = 0; i < std::min(kMax, s.ciphertext_bytes - first); ++i)
        ct[i * s.ciphertext_bytes + first + i] ^= static_cast<uint8_t>(1 << (first + i) % 8);
      expect_same(s, Op::kDecaps, {.count = kMax, .sk = in.sk.data(), .ct = ct.data()}, "decaps", {&kMax, 1});
    }
  }
}

TEST_P(MlkemLanesTest, ExpandedKeysGiveTheSame) {
  for (const Scheme& s : mlkem::schemes()) {
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

/// A step with its StepInfo, for covers_each_stage_once.
struct Covered {
  StepInfo info;
};

TEST_P(MlkemLanesTest, SmallBatchesHaveAPlanOfTheirOwnAndRecordIt) {
  for (const Scheme& s : mlkem::schemes()) {
    const Inputs in(s);
    const SchemeBackend& backend = *cpu_backend(s, name());
    for (const Op op : {Op::kKeygen, Op::kEncaps, Op::kDecaps}) {
      std::vector<Covered> steps;
      for (const StepInfo& info : backend.op(op).small_batches[0].operation->steps)
        steps.push_back({info});
      EXPECT_TRUE(covers_each_stage_once(steps, s.stages.of(op).size()));
      expect_recorded(s, backend, op, in);
    }
  }
}

TEST(Operation, SmallBatchesAndTailsGoToTheFirstThatTakesThem) {
  const Operation one{}, other{};
  Operation op{};
  op.granule = 8;
  const std::byte key{};
  const auto part = [&](BatchView items, const Operation* by = nullptr) {
    const SmallPart small = op.small_part(items);
    EXPECT_TRUE(small.count == 0 || small.operation == (by == nullptr ? &one : by)) << items.count;
    return small.count;
  };
  const auto of = [&](size_t count) { return part({.count = count}); };
  const auto of_shared = [&](size_t count) { return part({.count = count, .shared_key = true}); };
  const auto of_expanded = [&](size_t count) { return part({.count = count, .expanded = {.data = &key}}); };
  EXPECT_EQ(of(1), 0u);
  op.small_batches[0] = {&one, {.own_keys = 5, .expanded_keys = 2, .shared_key = 1, .tails = true}};
  EXPECT_EQ(of(5), 5u);
  EXPECT_EQ(of(6), 0u);
  EXPECT_EQ(of(16), 0u);
  EXPECT_EQ(of(21), 5u);
  EXPECT_EQ(of(22), 0u);
  EXPECT_EQ(of_shared(1), 1u);
  EXPECT_EQ(of_shared(2), 0u);
  EXPECT_EQ(of_shared(17), 0u);
  EXPECT_EQ(of_expanded(2), 2u);
  EXPECT_EQ(of_expanded(3), 0u);
  EXPECT_EQ(of_expanded(18), 2u);
  op.small_batches[1] = {&other, {.shared_key = 4}};
  EXPECT_EQ(of_shared(1), 1u);
  EXPECT_EQ(part({.count = 4, .shared_key = true}, &other), 4u);
  EXPECT_EQ(of_shared(5), 0u);
  EXPECT_EQ(of_shared(10), 0u);
  EXPECT_EQ(of(6), 0u);
  op.small_batches[0].limits.own_keys = 11;  // more than a granule
  EXPECT_EQ(of(11), 11u);
  EXPECT_EQ(of(12), 4u);
  op.small_batches[0].limits.tails = false;
  EXPECT_EQ(of(12), 0u);
}

POLYKEM_EVERY_SHA3_ISA(MlkemLanesTest);

}  // namespace
}  // namespace polykem
