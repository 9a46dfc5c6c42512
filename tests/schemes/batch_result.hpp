// SPDX-License-Identifier: Apache-2.0
// The outputs of a backend for a batch, to compare with those of another one.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/scheme.hpp"
#include "engine/chunk.hpp"

namespace polykem::testing {

/// Small batches run one by one, larger ones across the lanes.
inline constexpr size_t kMax = 71;
inline constexpr size_t kCounts[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13,  14,
                                     15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27,  28,
                                     29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, kMax};

/// The outputs of an operation.
struct Result {
  std::vector<uint8_t> pk, sk, ct, ss;
  std::vector<Status> status;
};

/// Returns whether the first items of `all` equal those of `some`.
inline bool begins_with(const Result& all, const Result& some) {
  const auto begins = [](const auto& long_one, const auto& short_one) {
    return short_one.size() <= long_one.size() && std::equal(short_one.begin(), short_one.end(), long_one.begin());
  };
  return begins(all.pk, some.pk) && begins(all.sk, some.sk) && begins(all.ct, some.ct) && begins(all.ss, some.ss) &&
         begins(all.status, some.status);
}

/// Runs a batch in chunks, as the engine does.
inline Result run(const Scheme& s, const SchemeBackend& backend, Op op, BatchView batch) {
  const Operation& any_count = backend.op(op);
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
  Worker worker;
  for (size_t first = 0; first < batch.count; first += any_count.chunk) {
    const BatchView chunk = batch.slice(s.record_bytes(op), first, std::min(any_count.chunk, batch.count - first));
    const Status status = compute_chunk({s, op, false, true}, backend, chunk, worker, nullptr);
    EXPECT_TRUE(status == Status::kOk || status == Status::kItems);
  }
  worker.wipe();
  return out;
}

}  // namespace polykem::testing
