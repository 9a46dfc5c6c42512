// SPDX-License-Identifier: Apache-2.0
// Operations made of others: one item after the other; a key that all items share expanded first.
#pragma once

#include "core/arena.hpp"
#include "core/operations.hpp"

namespace polykem {
inline namespace POLYKEM_ISA {

/// Runs the plan of `Single`, whose chunks have one item, on one item after the other. kChunk: the number of items in a
/// chunk of the engine. record_bytes: the lengths of an operation's records.
template <class Single, size_t kChunk, RecordBytes (*record_bytes)(Op)>
struct ItemByItem : Single {
  template <Op kOp>
  static constexpr size_t kItems = kChunk;

  template <Op kOp>
  static size_t workspace_bytes(size_t) {
    return Single::template workspace_bytes<kOp>(1);
  }

  template <Op kOp>
  static Status run(const void*, const Batch& batch, std::byte* workspace, StepTimes* times) {
    for (size_t i = 0; i < batch.count; ++i) {
      const Batch item{batch.slice(record_bytes(kOp), i, 1), batch.drbg};
      const Status status = Single::template run<kOp>(nullptr, item, workspace, times);
      if (status != Status::kOk) return status;
    }
    return Status::kOk;
  }
};

/// `Inner`, for which a key that several items share is expanded first, as a key set would. Keys has the
/// ExpandedKeyFormats kExpandedPublicKey and kExpandedSecretKey. kMatrixStage[op] is the stage that takes most of an
/// expansion's time; its step is charged for it.
template <class Inner, class Keys>
struct SharedKeyFirst : Inner {
  template <Op kOp>
  static size_t workspace_bytes(size_t items) {
    return Inner::template workspace_bytes<kOp>(items) + (items > 1 ? key_bytes<kOp>() : 0);
  }

  template <Op kOp>
  static Status run(const void*, const Batch& batch, std::byte* workspace, StepTimes* times) {
    if constexpr (kOp != Op::kKeygen) {
      if (batch.shared_key && batch.expanded.data == nullptr && batch.count > 1) {
        StepClock clock(times);
        Batch items = batch;
        std::byte* const key = workspace + Inner::template workspace_bytes<kOp>(batch.count);
        format<kOp>().expand(key, kOp == Op::kEncaps ? batch.pk : batch.sk, 1, key + format<kOp>().bytes);
        items.expanded = {key, format<kOp>().bytes, true, nullptr};
        clock.stop(kMatrixStep<kOp>, 0);
        return Inner::template run<kOp>(nullptr, items, workspace, times);
      }
    }
    return Inner::template run<kOp>(nullptr, batch, workspace, times);
  }

 private:
  template <Op kOp>
  static constexpr const ExpandedKeyFormat& format() {
    return kOp == Op::kEncaps ? Keys::kExpandedPublicKey : Keys::kExpandedSecretKey;
  }
  template <Op kOp>
  static size_t key_bytes() {
    return kOp == Op::kKeygen ? 0 : format<kOp>().bytes + format<kOp>().workspace_bytes(1);
  }

  /// The step that the expansion is charged to.
  template <Op kOp>
  static constexpr size_t kMatrixStep = [] {
    size_t step = 0;
    while ((Inner::template kInfos<kOp>[step].stages() >> Keys::kMatrixStage[static_cast<size_t>(kOp)] & 1) == 0)
      ++step;
    return step;
  }();
};

}  // namespace POLYKEM_ISA
}  // namespace polykem
