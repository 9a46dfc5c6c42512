// SPDX-License-Identifier: Apache-2.0
// Operations of a vector backend: whole blocks run with one item per lane, the few items of a small batch one by one.
#pragma once

#include "core/operations.hpp"
#include "schemes/ntru/kem.hpp"
#include "schemes/ntru/lanes/ops.hpp"
#include "schemes/ntru/ref/ops.hpp"

namespace polykem::ntru::lanes {
inline namespace POLYKEM_ISA {

template <NtruParams P, class Isa, class Singles = Operations<Kem<ref::Ops<P, Isa>>, ref::Chunk<P, Isa>>>
constexpr SchemeBackend backend() {
  using Blocks = Operations<Kem<Ops<P, Isa>>, Chunk<P, Isa>, KeygenChunk<P, Isa>>;
  return scheme_backend<SplitOperations<Blocks, Singles, Isa::kFewestForLanes>>(Isa::kName);
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::ntru::lanes
