// SPDX-License-Identifier: Apache-2.0
// Operations of a vector backend: whole blocks run with one item per lane, the few items of a small batch one by one,
// and so do the few that share one key, which is expanded once.
#pragma once

#include "core/operations.hpp"
#include "schemes/saber/kem.hpp"
#include "schemes/saber/lanes/ops.hpp"
#include "schemes/saber/ref/ops.hpp"

namespace polykem::saber::lanes {
inline namespace POLYKEM_ISA {

template <SaberParams P, class Isa>
constexpr SchemeBackend backend() {
  using Prims = SinglePrims<Isa>;
  using Blocks = Operations<Kem<Ops<P, Isa>>, Chunk<P, Isa>>;
  using Singles = Operations<Kem<ref::Ops<P, Prims>>, ref::Chunk<P, Prims>>;
  SchemeBackend result = scheme_backend<SplitOperations<Blocks, Singles, Isa::kFewestForLanes>>(Isa::kName);
  result.public_form = ref::Keys<P, Prims>::kPublicForm;
  result.secret_form = ref::Keys<P, Prims>::kSecretForm;
  return result;
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::saber::lanes
