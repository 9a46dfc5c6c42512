// SPDX-License-Identifier: Apache-2.0
// Operations of a vector backend: whole blocks run with one item per lane, the few items of a small batch one by one.
#pragma once

#include "core/operations.hpp"
#include "schemes/mlkem/kem.hpp"
#include "schemes/mlkem/lanes/ops.hpp"
#include "schemes/mlkem/ref/ops.hpp"

namespace polykem::mlkem::lanes {
inline namespace POLYKEM_ISA {

template <MlkemParams P, class Isa>
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
}  // namespace polykem::mlkem::lanes
