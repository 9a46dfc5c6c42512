// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <iterator>

#include "core/operations.hpp"
#include "schemes/lac/kem.hpp"
#include "schemes/lac/steps.hpp"

namespace polykem::lac {
inline namespace POLYKEM_ISA {

/// Sets are parameters at run time: all share this code, and each passes its Set as context.
template <InstructionSet Isa>
struct IsaOperations : Operations<Kem<Steps<Isa>>, State<Isa>> {
  template <Op kOp>
  static Status run(const void* context, const Batch& batch, std::byte* workspace, StepTimes* times) {
    State<Isa> state(*static_cast<const Set*>(context), batch, workspace);
    run_plan(IsaOperations::template plan<kOp>(), state, batch.count, times);
    return Status::kOk;
  }
};

/// Returns the backend of each set in kSets.
template <InstructionSet Isa>
constexpr std::array<SchemeBackend, std::size(kSets)> backends() {
  std::array<SchemeBackend, std::size(kSets)> result{};
  for (size_t i = 0; i < result.size(); ++i) {
    result[i] = scheme_backend<IsaOperations<Isa>>(Isa::kName);
    for (Operation& operation : result[i].ops)
      operation.context = &kSets[i];
  }
  return result;
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::lac
