// SPDX-License-Identifier: Apache-2.0
// Operations of a vector backend: whole blocks run with one item per lane, the few items of a small batch one by one,
// and so do the few that share one key, which is expanded once.
#pragma once

#include "core/operations.hpp"
#include "schemes/mlkem/kem.hpp"
#include "schemes/mlkem/lanes/ops.hpp"
#include "schemes/mlkem/lone/ops.hpp"
#include "schemes/mlkem/ref/ops.hpp"

namespace polykem::mlkem::lanes {
inline namespace POLYKEM_ISA {

/// The most items of keygen, encaps and decaps that are computed one by one, for k = 2, 3, 4 and by maker of the CPU.
/// Measured on Xeons and, where others are meant, on a Zen 4; on AArch64 by counted instructions.
struct MostLone {
  size_t intel[3][kOps], others[3][kOps];
  constexpr size_t of(size_t k, size_t op, bool by_intel) const { return (by_intel ? intel : others)[k - 2][op]; }
};

/// Has few items computed one by one.
template <MlkemParams P, class Isa, size_t... kOp>
constexpr void lone_items(SchemeBackend& backend, bool by_intel, std::index_sequence<kOp...>) {
  using Lone = lone::LoneOperations<P, Isa>;
  ((backend.ops[kOp].few = &Lone::template kOperation<static_cast<Op>(kOp)>), ...);
  ((backend.ops[kOp].few_most = Isa::kMostLone.of(P.k, kOp, by_intel)), ...);
  ((backend.ops[kOp].few_most_expanded = backend.ops[kOp].few_most), ...);
}

/// With limits of few items for one maker's CPUs.
template <MlkemParams P, class Isa>
constexpr SchemeBackend backend(bool by_intel) {
  using Prims = SinglePrims<Isa>;
  using Blocks = Operations<Kem<Ops<P, Isa>>, Chunk<P, Isa>>;
  using Singles = Operations<Kem<ref::Ops<P, Prims>>, ref::Chunk<P, Prims>>;
  SchemeBackend result = scheme_backend<SplitOperations<Blocks, Singles, Isa::kFewestForLanes>>(Isa::kName);
  lone_items<P, Isa>(result, by_intel, std::make_index_sequence<kOps>());
  result.public_form = ref::Keys<P, Prims>::kPublicForm;
  result.secret_form = ref::Keys<P, Prims>::kSecretForm;
  return result;
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::mlkem::lanes
