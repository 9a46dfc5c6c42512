// SPDX-License-Identifier: Apache-2.0
// Turns the plans of a backend into the Operations that the engine runs.
#pragma once

#include <array>
#include <span>
#include <type_traits>

#include "core/isa.hpp"
#include "core/scheme.hpp"

namespace polykem {
inline namespace POLYKEM_ISA {

/// `Plans` has constexpr arrays: keygen of Step<KeygenState>, encaps and decaps of Step<State>. A state has
/// State(const Batch&, std::byte*), static size_t workspace_bytes(size_t items), and the constants kItemsPerVector and
/// kItems. operation() needs of a type `Ops` what this one has: kInfos, kItemsPerVector, kItems, workspace_bytes and
/// run.
template <class Plans, class State, class KeygenState = State>
struct Operations {
  template <Op kOp>
  using StateOf = std::conditional_t<kOp == Op::kKeygen, KeygenState, State>;

  static constexpr size_t kItemsPerVector = State::kItemsPerVector;
  template <Op kOp>
  static constexpr size_t kItems = StateOf<kOp>::kItems;

  template <Op kOp>
  static constexpr const auto& plan() {
    if constexpr (kOp == Op::kKeygen) {
      return Plans::keygen;
    } else if constexpr (kOp == Op::kEncaps) {
      return Plans::encaps;
    } else {
      return Plans::decaps;
    }
  }

  template <Op kOp>
  static constexpr auto kInfos = step_infos(plan<kOp>());

  template <Op kOp>
  static size_t workspace_bytes(size_t items) {
    return StateOf<kOp>::workspace_bytes(items);
  }

  template <Op kOp>
  static Status run(const void*, const Batch& batch, std::byte* workspace, StepTimes* times) {
    StateOf<kOp> state(batch, workspace);
    run_plan(plan<kOp>(), state, batch.count, times);
    return Status::kOk;
  }
};

template <class Ops, Op kOp>
constexpr Operation operation() {
  return {Ops::template kInfos<kOp>, Ops::kItemsPerVector, Ops::template kItems<kOp>,
          Ops::template workspace_bytes<kOp>, Ops::template run<kOp>};
}

template <class Ops, Op kOp>
inline constexpr Operation kOperation = operation<Ops, kOp>();

/// name: the backend's, see core/backend.hpp.
template <class Ops>
constexpr SchemeBackend scheme_backend(const char* name) {
  return {name, {operation<Ops, Op::kKeygen>(), operation<Ops, Op::kEncaps>(), operation<Ops, Op::kDecaps>()}};
}

/// Adds `Small` as implementation number `place` for batches within the limits; lower numbers have precedence. The
/// caller passes the number because comparing `operation` with nullptr is no constant expression under UBSan.
template <class Small, size_t kPlace = 0>
constexpr void add_small_batches(SchemeBackend& backend, const std::array<SmallBatchLimits, kOpsPerSet>& limits) {
  const Operation* const operations[kOpsPerSet] = {&kOperation<Small, Op::kKeygen>, &kOperation<Small, Op::kEncaps>,
                                                   &kOperation<Small, Op::kDecaps>};
  for (size_t op = 0; op < kOpsPerSet; ++op)
    backend.ops[op].small_batches[kPlace] = {operations[op], limits[op]};
}

}  // namespace POLYKEM_ISA
}  // namespace polykem
