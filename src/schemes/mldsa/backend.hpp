// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/operations.hpp"
#include "schemes/mldsa/keys.hpp"
#include "schemes/mldsa/signature.hpp"
#include "schemes/mldsa/steps.hpp"

namespace polykem::mldsa {
inline namespace POLYKEM_ISA {

/// Returns the lengths of the records of set P in an operation.
template <MldsaParams P>
constexpr RecordBytes record_bytes(Op op) {
  return {P.public_key_bytes(), P.secret_key_bytes(), 0, 0, op == Op::kVerify ? 0 : kSeedBytes, P.signature_bytes()};
}

/// An operation that runs `Plan` on as many items as Steps::State holds, again and again until all are done.
template <MldsaParams P, Op kOp, template <class> class Plan, class Steps>
struct OneOperation {
  using State = typename Steps::State;
  static constexpr auto kInfos = step_infos(Plan<Steps>::plan);

  static size_t workspace_bytes(size_t items) { return State::workspace_bytes(items); }
  static Status run(const void*, const Batch& batch, std::byte* workspace, StepTimes* times) {
    for (size_t first = 0; first < batch.count; first += State::kItems) {
      const size_t count = std::min(State::kItems, batch.count - first);
      State state(Batch{batch.slice(record_bytes<P>(kOp), first, count), batch.drbg}, workspace);
      run_plan(Plan<Steps>::plan, state, count, times);
    }
    return Status::kOk;
  }
  /// Chunks have enough items for a job's hand-over to take little of the time, and few enough to leave work for other
  /// threads.
  static constexpr Operation operation(size_t items_per_vector) {
    return {kInfos, items_per_vector, 8 * items_per_vector, workspace_bytes, run};
  }
};

template <MldsaParams P, InstructionSet Isa>
constexpr SchemeBackend backend() {
  SchemeBackend result{Isa::kName, {}};
  const auto set = [&](Op op, const Operation& operation) { result.ops[static_cast<size_t>(op)] = operation; };
  set(Op::kKeygen, OneOperation<P, Op::kKeygen, Keygen, KeygenSteps<P, Isa>>::operation(Isa::kItems));
  set(Op::kSign, OneOperation<P, Op::kSign, Sign, SignSteps<P, Isa>>::operation(Isa::kItems));
  set(Op::kVerify, OneOperation<P, Op::kVerify, Verify, VerifySteps<P, Isa>>::operation(Isa::kItems));
  result.expanded_public_key = Keys<P, Isa>::kExpandedPublicKey;
  result.expanded_secret_key = Keys<P, Isa>::kExpandedSecretKey;
  return result;
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::mldsa
