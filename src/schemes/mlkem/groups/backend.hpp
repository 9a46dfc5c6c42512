// SPDX-License-Identifier: Apache-2.0
// Operations in groups, of which the last one may have fewer items. A key that all items share is expanded once.
#pragma once

#include "core/operations.hpp"
#include "schemes/mlkem/groups/ops.hpp"
#include "schemes/mlkem/lanes/single_prims.hpp"
#include "schemes/mlkem/ref/keys.hpp"

namespace polykem::mlkem::groups {
inline namespace POLYKEM_ISA {

template <MlkemParams P, class Isa>
struct GroupOperations {
  using Plans = Kem<Ops<P, Isa>>;
  using Keys = ref::Keys<P, lanes::SinglePrims<Isa>>;
  /// Few enough to leave work for other threads, enough for a shared key's expansion to be little of the time.
  static constexpr size_t kGranule = kItems, kMostItems = 8 * kItems;

  template <Op kOp>
  static constexpr const auto& plan() {
    return Operations<Plans, Chunk<P>>::template plan<kOp>();
  }
  template <Op kOp>
  static constexpr auto kInfos = step_infos(plan<kOp>());
  template <Op kOp>
  static constexpr RecordBytes kRecords = {P.public_key_bytes(), P.secret_key_bytes(), P.ciphertext_bytes(), kSymBytes,
                                           kOp == Op::keygen   ? kKeygenDrawBytes
                                           : kOp == Op::encaps ? kEncapsDrawBytes
                                                               : 0};

  /// Working memory: of a group, and a key that all items share.
  struct alignas(64) Memory {
    Group<Chunk<P>::D> group;
    SecretKey<P.k> shared;
  };
  static size_t workspace_bytes(size_t) { return Arena::bytes<Memory>(1); }

  template <Op kOp>
  static Status run(const void*, const Batch& batch, std::byte* workspace, StepTimes* times) {
    Memory& memory = *Arena(workspace).take<Memory>(1);
    Batch items = batch;
    if (batch.shared_key && batch.expanded.data == nullptr) {
      StepClock clock(times);
      items.expanded = expand<kOp>(batch, memory.shared);
      clock.stop(kExpansion<kOp>, 0);
    }
    for (size_t first = 0; first < items.count; first += kItems) {
      const size_t count = std::min(kItems, items.count - first);
      const Batch of_group{items.slice(kRecords<kOp>, first, count), items.drbg};
      Chunk<P> chunk(of_group, memory.group);
      run_plan(plan<kOp>(), chunk, count, times);
    }
    return Status::ok;
  }

  template <Op kOp>
  static constexpr Operation operation() {
    return {kInfos<kOp>, kGranule, kMostItems, workspace_bytes, run<kOp>};
  }

 private:
  /// The step that counts the expansion of a shared key, most of which it is: gen_a.
  template <Op kOp>
  static constexpr size_t kExpansion = kOp == Op::encaps ? 4 : 8;

  template <Op kOp>
  static ExpandedKeys expand(const Batch& batch, SecretKey<P.k>& key) {
    auto* out = reinterpret_cast<std::byte*>(kOp == Op::encaps ? static_cast<void*>(&key.pk) : &key);
    if constexpr (kOp == Op::encaps) {
      Keys::expand_public(out, batch.pk, 1, nullptr);
      return {out, sizeof key.pk, true, nullptr};
    } else {
      Keys::expand_secret(out, batch.sk, 1, nullptr);
      return {out, sizeof key, true, nullptr};
    }
  }
};

/// Has all but few items computed in groups. Expanded keys leave so little to do that two items are few.
template <MlkemParams P, class Isa>
void use(SchemeBackend& backend) {
  const auto with_few_of = [](Operation operation, const Operation& lanes) {
    operation.few = lanes.few;
    operation.few_most = lanes.few_most;
    operation.few_most_expanded = 2;
    return operation;
  };
  using Groups = GroupOperations<P, Isa>;
  auto& [keygen, encaps, decaps] = backend.ops;
  keygen = with_few_of(Groups::template operation<Op::keygen>(), keygen);
  encaps = with_few_of(Groups::template operation<Op::encaps>(), encaps);
  decaps = with_few_of(Groups::template operation<Op::decaps>(), decaps);
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::mlkem::groups
