// SPDX-License-Identifier: Apache-2.0
// Operations of a vector backend.
#pragma once

#include "core/operations.hpp"
#include "schemes/mlkem/instruction_set.hpp"
#include "schemes/mlkem/interleaved/ops.hpp"
#include "schemes/mlkem/kem.hpp"
#include "schemes/mlkem/ref/ops.hpp"
#include "schemes/mlkem/single/ops.hpp"
#include "tuning/small_batches.hpp"

namespace polykem::mlkem::interleaved {
inline namespace POLYKEM_ISA {

/// As the limits of kCpu say: item after item by a plan of its own, item after item with a shared key expanded first,
/// one item per lane.
template <MlkemParams P, InstructionSet Isa, tuning::Cpu kCpu>
constexpr SchemeBackend backend() {
  constexpr const tuning::Row& row = tuning::row(tuning::kMlkem, kCpu, P.k);
  using Prims = SinglePrims<Isa>;
  SchemeBackend result = scheme_backend<Operations<Kem<Ops<P, Isa>>, Chunk<P, Isa>>>(Isa::kName);
  add_small_batches<single::SingleOperations<P, Isa, row.hashes_together>>(result, row.limits(true));
  using ExpandedFirst = Operations<Kem<ref::Ops<P, Prims>>, ref::Chunk<P, Prims>>;
  add_small_batches<ExpandedFirst, 1>(result, row.limits_of_key_expanded_first());
  result.public_form = ref::Keys<P, Prims>::kPublicForm;
  result.secret_form = ref::Keys<P, Prims>::kSecretForm;
  return result;
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::mlkem::interleaved
