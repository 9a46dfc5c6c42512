// SPDX-License-Identifier: Apache-2.0
// Batches of a KEM's items, computed by one backend to compare with another's.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/backend.hpp"
#include "core/scheme.hpp"
#include "engine/chunk.hpp"
#include "support/isa.hpp"

namespace polykem::test {

/// Small batches run one by one, larger ones across the lanes.
inline constexpr size_t kMax = 71;
inline constexpr size_t kCounts[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13,  14,
                                     15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27,  28,
                                     29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, kMax};

/// The outputs of an operation.
struct Result {
  Bytes pk, sk, ct, ss;
  std::vector<Status> status;

  bool operator==(const Result&) const = default;
};

/// Returns whether the first items of `all` equal those of `some`.
inline bool begins_with(const Result& all, const Result& some) {
  const auto begins = [](const auto& long_one, const auto& short_one) {
    return short_one.size() <= long_one.size() && std::equal(short_one.begin(), short_one.end(), long_one.begin());
  };
  return begins(all.pk, some.pk) && begins(all.sk, some.sk) && begins(all.ct, some.ct) && begins(all.ss, some.ss) &&
         begins(all.status, some.status);
}

/// Runs a batch in the operation's chunks, each by `compute`.
template <class Compute>
Result run_chunks(const Scheme& s, const char* backend, Op op, BatchView batch, Compute&& compute) {
  const Operation& operation = cpu_backend(s, backend)->op(op);
  Result out;
  out.pk.resize(op == Op::kKeygen ? batch.count * s.public_key_bytes : 0);
  out.sk.resize(op == Op::kKeygen ? batch.count * s.secret_key_bytes : 0);
  out.ct.resize(op == Op::kEncaps ? batch.count * s.ciphertext_bytes : 0);
  out.ss.resize(op == Op::kKeygen ? 0 : batch.count * s.shared_secret_bytes);
  out.status.assign(batch.count, Status::kOk);
  batch.pk_out = out.pk.data();
  batch.sk_out = out.sk.data();
  batch.ct_out = out.ct.data();
  batch.ss_out = out.ss.data();
  batch.item_status = out.status.data();
  for (size_t first = 0; first < batch.count; first += operation.chunk)
    compute(operation, batch.slice(s.record_bytes(op), first, std::min(operation.chunk, batch.count - first)));
  return out;
}

/// Runs a batch as the engine does.
inline Result run(const Scheme& s, const char* backend, Op op, const BatchView& batch) {
  Worker worker;
  Result out = run_chunks(s, backend, op, batch, [&](const Operation&, const BatchView& chunk) {
    const Status status = compute_chunk({s, op, false, true}, *cpu_backend(s, backend), chunk, worker, nullptr);
    EXPECT_TRUE(status == Status::kOk || status == Status::kItems);
  });
  worker.zeroize();
  return out;
}

/// Runs each chunk of a batch in a workspace with arbitrary contents.
inline Result run_on_noise(const Scheme& s, const char* backend, Op op, const BatchView& batch, Noise& noise,
                           Drbg* drbg = nullptr) {
  return run_chunks(s, backend, op, batch, [&](const Operation& operation, const BatchView& view) {
    const Batch chunk{view, drbg};
    const size_t bytes = operation.workspace_bytes(chunk.count);
    AlignedBuffer<uint8_t> workspace(bytes);
    noise.fill({workspace.data(), bytes});
    EXPECT_EQ(operation.run(operation.context, chunk, reinterpret_cast<std::byte*>(workspace.data()), nullptr),
              Status::kOk);
  });
}

/// Inputs of `count` items, by the reference.
struct KemInputs {
  Noise noise;
  size_t count;
  Bytes keygen_coins, encaps_coins, pk, sk, ct;

  explicit KemInputs(const Scheme& s, size_t items = kMax)
      : noise(s.public_key_bytes),
        count(items),
        keygen_coins(noise.bytes(count * s.keygen_coin_bytes)),
        encaps_coins(noise.bytes(count * s.encaps_coin_bytes)) {
    const Result keys = run(s, cpu::kRef, Op::kKeygen, of(Op::kKeygen));
    pk = keys.pk;
    sk = keys.sk;
    ct = run(s, cpu::kRef, Op::kEncaps, of(Op::kEncaps)).ct;
  }

  BatchView of(Op op, bool shared_key = false) const {
    BatchView batch{.count = count, .shared_key = shared_key};
    if (op != Op::kDecaps) batch.coins = op == Op::kKeygen ? keygen_coins.data() : encaps_coins.data();
    if (op == Op::kEncaps) batch.pk = pk.data();
    if (op == Op::kDecaps) batch.sk = sk.data();
    if (op == Op::kDecaps) batch.ct = ct.data();
    return batch;
  }
};

/// Batches from the beginning of `most` must equal the reference's results for all of it.
inline void expect_same(const Scheme& s, const char* backend, Op op, const BatchView& most, const char* what,
                        std::span<const size_t> counts = kCounts) {
  const Result want = run(s, cpu::kRef, op, most);
  for (const size_t count : counts) {
    BatchView batch = most;
    batch.count = std::min(count, most.count);
    EXPECT_TRUE(begins_with(want, run(s, backend, op, batch))) << s.name << " " << what << " " << batch.count;
  }
}

/// Batches of every size with expanded keys, shared and per item, must equal the reference's with the keys' records.
inline void expect_expanded_keys_give_the_same(const Scheme& s, const char* name, const KemInputs& in) {
  constexpr size_t kShared = 5;
  const SchemeBackend& backend = *cpu_backend(s, name);
  std::vector<size_t> index(in.count);
  for (size_t i = 0; i < in.count; ++i)
    index[i] = i * 29 % in.count;
  for (const Op op : {Op::kEncaps, Op::kDecaps}) {
    const ExpandedKeyFormat& format = op == Op::kEncaps ? backend.expanded_public_key : backend.expanded_secret_key;
    const Bytes& records = op == Op::kEncaps ? in.pk : in.sk;
    const size_t bytes = op == Op::kEncaps ? s.public_key_bytes : s.secret_key_bytes;
    ASSERT_EQ(format.bytes % 64, 0u);
    AlignedBuffer<std::byte> expanded(in.count * format.bytes), workspace(format.workspace_bytes(in.count) + 64);
    format.expand(expanded.data(), records.data(), in.count, workspace.data());
    for (const bool shared : {false, true}) {
      Bytes gathered;
      for (size_t i = 0; i < in.count; ++i) {
        const uint8_t* record = &records[(shared ? kShared : index[i]) * bytes];
        gathered.insert(gathered.end(), record, record + bytes);
      }
      BatchView batch = in.of(op, shared);
      (op == Op::kEncaps ? batch.pk : batch.sk) = gathered.data();
      const Result want = run(s, cpu::kRef, op, batch);
      batch.expanded = {.data = expanded.data() + (shared ? kShared * format.bytes : 0),
                        .bytes = format.bytes,
                        .shared = shared,
                        .index = shared ? nullptr : index.data()};
      for (const size_t count : kCounts) {
        batch.count = count;
        EXPECT_TRUE(begins_with(want, run(s, name, op, batch))) << s.name << " " << count << " " << shared;
      }
    }
  }
}

}  // namespace polykem::test
