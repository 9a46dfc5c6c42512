// SPDX-License-Identifier: Apache-2.0
// Compares every backend of ML-KEM and Kyber with the reference: all operations, full and partial blocks, keys per
// item, shared and expanded keys, some of them malformed.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "core/backend.hpp"
#include "engine/chunk.hpp"
#include "schemes/mlkem/mlkem.hpp"
#include "schemes/registry.hpp"
#include "support/isa.hpp"
#include "support/kem_batches.hpp"

namespace polykem {
namespace {

using test::Bytes;
using test::expect_same;
using test::kMax;
using test::Result;
using test::run;

/// Some keys are malformed, some ciphertexts belong to another key.
struct Inputs : test::KemInputs {
  size_t malformed_pk = 0, malformed_sk = 0;

  explicit Inputs(const Scheme& s) : KemInputs(s) {
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

class MlkemLanesTest : public test::IsaTest {
 protected:
  static const char* name() { return test::backend_name(GetParam()); }

  /// Two items, as the engine computes and profiles them, record the plan for small batches, in order.
  static void expect_recorded(const Scheme& s, const SchemeBackend& backend, Op op, const Inputs& in) {
    constexpr size_t kSmall = 2;
    Profile profile;
    profile.enable(true);
    Worker worker;
    Bytes out(kSmall * (s.secret_key_bytes + s.public_key_bytes + s.ciphertext_bytes + s.shared_secret_bytes));
    std::vector<Status> status(kSmall);
    BatchView items = in.of(op);
    items.count = kSmall;
    items.item_status = status.data();
    items.ss_out = out.data();
    items.ct_out = items.ss_out + kSmall * s.shared_secret_bytes;
    items.pk_out = items.ct_out + kSmall * s.ciphertext_bytes;
    items.sk_out = items.pk_out + kSmall * s.public_key_bytes;
    (void)compute_chunk({s, op, false, true}, backend, items, worker, &profile);
    const auto records = profile.read();
    const auto steps = backend.op(op).small_batches[0].operation->steps;
    ASSERT_EQ(records.size(), steps.size()) << s.name;
    // Two items are too few on NEON (tuning/small_batches.hpp). Kyber has no seeds.
    const bool ends_together = std::string_view(name()).substr(0, 4) != "neon" &&
                               (op == Op::kKeygen || (op == Op::kEncaps && !s.secret_seeds));
    for (size_t i = 0; i < steps.size(); ++i) {
      EXPECT_STREQ(records[i].step, steps[i].name);
      EXPECT_STREQ(records[i].stages, stage_names(s.stages.of(op), steps[i]));
      EXPECT_EQ(records[i].total.items, kSmall);
      EXPECT_EQ(records[i].total.calls, ends_together && i + 1 == steps.size() ? 1 : kSmall);
    }
    worker.zeroize();
  }
};

TEST_P(MlkemLanesTest, OperationsAgreeWithReference) {
  for (const Scheme& s : mlkem::schemes()) {
    const Inputs in(s);
    expect_same(s, name(), Op::kKeygen, in.of(Op::kKeygen), "keygen");
    for (const bool shared : {false, true}) {
      BatchView encaps = in.of(Op::kEncaps, shared);
      expect_same(s, name(), Op::kEncaps, encaps, "encaps to a malformed key among them");
      encaps.count -= 1;
      encaps.pk += s.public_key_bytes;
      expect_same(s, name(), Op::kEncaps, encaps, "encaps");
      expect_same(s, name(), Op::kDecaps, in.of(Op::kDecaps, shared), "decaps");
    }
  }
}

TEST_P(MlkemLanesTest, MalformedKeysAreReportedAndTheirOutputsZero) {
  for (const Scheme& s : mlkem::schemes()) {
    const Inputs in(s);
    const bool checks = std::string(s.name).starts_with("mlkem");
    const Result encaps = run(s, name(), Op::kEncaps, in.of(Op::kEncaps));
    const Result decaps = run(s, name(), Op::kDecaps, in.of(Op::kDecaps));
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
      BatchView batch = in.of(Op::kDecaps);
      batch.ct = ct.data();
      expect_same(s, name(), Op::kDecaps, batch, "decaps", {&kMax, 1});
    }
  }
}

TEST_P(MlkemLanesTest, ExpandedKeysGiveTheSame) {
  for (const Scheme& s : mlkem::schemes())
    test::expect_expanded_keys_give_the_same(s, name(), Inputs(s));
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
  op.items_per_vector = 8;
  const std::byte key{};
  const auto part = [&](BatchView items, const Operation* by = nullptr) {
    const Tail small = op.tail(items);
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
  op.small_batches[0].limits.own_keys = 11;  // more than fill the lanes
  EXPECT_EQ(of(11), 11u);
  EXPECT_EQ(of(12), 4u);
  op.small_batches[0].limits.tails = false;
  EXPECT_EQ(of(12), 0u);
}

POLYKEM_EVERY_SHA3_ISA(MlkemLanesTest);

}  // namespace
}  // namespace polykem
