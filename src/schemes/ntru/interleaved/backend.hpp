// SPDX-License-Identifier: Apache-2.0
// The operations of a vector backend: one item per lane, small batches item by item.
#pragma once

#include "core/operations.hpp"
#include "schemes/ntru/interleaved/steps.hpp"
#include "schemes/ntru/kem.hpp"
#include "schemes/ntru/ref/steps.hpp"
#include "tuning/small_batches.hpp"

namespace polykem::ntru::interleaved {
inline namespace POLYKEM_ISA {

template <NtruParams P, InstructionSet Isa, tuning::Cpu kCpu,
          class Singles = Operations<Kem<ref::Steps<P, Isa>>, ref::State<P, Isa>>>
constexpr SchemeBackend backend() {
  using Interleaved = Operations<Kem<Steps<P, Isa>>, State<P, Isa>, KeygenState<P, Isa>>;
  SchemeBackend result = scheme_backend<Interleaved>(Isa::kName);
  add_small_batches<Singles>(result, tuning::row(tuning::kNtru, kCpu).limits(false));
  return result;
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::ntru::interleaved
