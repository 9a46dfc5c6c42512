// SPDX-License-Identifier: Apache-2.0
// Every backend of Saber against the reference: all operations, blocks that are full and that are not, keys
// per item, shared and expanded.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "core/backend.hpp"
#include "engine/chunk.hpp"
#include "isa.hpp"
#include "schemes/registry.hpp"
#include "schemes/saber/saber.hpp"

namespace polykem {
namespace {

using testing::AlignedBuffer;
using testing::Noise;
using Bytes = std::vector<uint8_t>;

constexpr size_t kMost = 71;
/// Small batches run one by one, larger ones across the lanes.
constexpr size_t kCounts[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,   21,
                              22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, kMost};

/// What an operation wrote.
struct Result {
  Bytes pk, sk, ct, ss;
  std::vector<Status> status;
  bool operator==(const Result&) const = default;
};

/// Runs a batch chunk by chunk, as the engine does.
Result run(const Scheme& s, const SchemeBackend& backend, Op op, BatchView batch) {
  const Operation& any_count = backend.op(op);
  Result out;
  out.pk.resize(op == Op::keygen ? batch.count * s.public_key_bytes : 0);
  out.sk.resize(op == Op::keygen ? batch.count * s.secret_key_bytes : 0);
  out.ct.resize(op == Op::encaps ? batch.count * s.ciphertext_bytes : 0);
  out.ss.resize(op == Op::keygen ? 0 : batch.count * s.shared_secret_bytes);
  out.status.assign(batch.count, Status::ok);
  batch.pk_out = out.pk.data();
  batch.sk_out = out.sk.data();
  batch.ct_out = out.ct.data();
  batch.ss_out = out.ss.data();
  batch.item_status = out.status.data();
  Worker worker;
  for (size_t first = 0; first < batch.count; first += any_count.chunk) {
    const BatchView chunk = batch.slice(s.record_bytes(op), first, std::min(any_count.chunk, batch.count - first));
    EXPECT_EQ(compute_chunk({s, op, false, true}, backend, chunk, worker, nullptr), Status::ok);
  }
  worker.wipe();
  return out;
}

/// Keys, of which some hold arbitrary bytes, and ciphertexts, some of which belong to another key.
struct Inputs {
  Bytes keygen_coins, encaps_coins, pk, sk, ct;

  explicit Inputs(const Scheme& s) {
    Noise noise(s.public_key_bytes);
    const SchemeBackend& ref = *cpu_backend(s, cpu::kRef);
    keygen_coins = noise.bytes(kMost * s.keygen_coin_bytes);
    encaps_coins = noise.bytes(kMost * s.encaps_coin_bytes);
    const Result keys = run(s, ref, Op::keygen, {.count = kMost, .coins = keygen_coins.data()});
    pk = keys.pk;
    sk = keys.sk;
    ct = run(s, ref, Op::encaps, {.count = kMost, .coins = encaps_coins.data(), .pk = pk.data()}).ct;
    for (size_t i = 3; i + 3 < kMost; i += 11) {
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

  /// The same batch on the reference.
  static void expect_same(const Scheme& s, Op op, const BatchView& batch, const char* what) {
    const Result got = run(s, *cpu_backend(s, name()), op, batch);
    const Result want = run(s, *cpu_backend(s, cpu::kRef), op, batch);
    EXPECT_TRUE(got == want) << s.name << " " << what << " " << batch.count;
  }
};

TEST_P(SaberLanesTest, OperationsAgreeWithReference) {
  for (const Scheme& s : saber::schemes()) {
    const Inputs in(s);
    for (const size_t count : kCounts) {
      expect_same(s, Op::keygen, {.count = count, .coins = in.keygen_coins.data()}, "keygen");
      for (const bool shared : {false, true}) {
        expect_same(s, Op::encaps,
                    {.count = count, .shared_key = shared, .coins = in.encaps_coins.data(), .pk = in.pk.data()},
                    "encaps");
        expect_same(s, Op::decaps, {.count = count, .shared_key = shared, .sk = in.sk.data(), .ct = in.ct.data()},
                    "decaps");
      }
    }
  }
}

TEST_P(SaberLanesTest, ExpandedKeysGiveTheSame) {
  for (const Scheme& s : saber::schemes()) {
    const Inputs in(s);
    const SchemeBackend& backend = *cpu_backend(s, name());
    std::vector<size_t> index(kMost);
    for (size_t i = 0; i < kMost; ++i)
      index[i] = i * 29 % kMost;
    for (const Op op : {Op::encaps, Op::decaps}) {
      const KeyForm& form = op == Op::encaps ? backend.public_form : backend.secret_form;
      const Bytes& records = op == Op::encaps ? in.pk : in.sk;
      const size_t bytes = op == Op::encaps ? s.public_key_bytes : s.secret_key_bytes;
      ASSERT_EQ(form.bytes % 64, 0u);
      AlignedBuffer<std::byte> expanded(kMost * form.bytes), workspace(form.workspace_bytes(kMost) + 64);
      form.expand(expanded.data(), records.data(), kMost, workspace.data());
      for (const size_t count : kCounts) {
        for (const bool shared : {false, true}) {
          Bytes gathered;
          for (size_t i = 0; i < count; ++i) {
            const uint8_t* record = &records[(shared ? 5 : index[i]) * bytes];
            gathered.insert(gathered.end(), record, record + bytes);
          }
          BatchView batch{.count = count, .shared_key = shared};
          (op == Op::encaps ? batch.pk : batch.sk) = gathered.data();
          (op == Op::encaps ? batch.coins : batch.ct) = op == Op::encaps ? in.encaps_coins.data() : in.ct.data();
          const Result want = run(s, *cpu_backend(s, cpu::kRef), op, batch);
          batch.expanded = {.data = expanded.data() + (shared ? 5 * form.bytes : 0),
                            .bytes = form.bytes,
                            .shared = shared,
                            .index = shared ? nullptr : index.data()};
          const Result got = run(s, backend, op, batch);
          EXPECT_TRUE(got == want) << s.name << " " << count << " " << shared;
        }
      }
    }
  }
}

POLYKEM_EVERY_SHA3_ISA(SaberLanesTest);

}  // namespace
}  // namespace polykem
