// SPDX-License-Identifier: Apache-2.0
// The operations of a vector backend that computes many items with one in each lane.
#pragma once

#include "schemes/mlkem/interleaved/arithmetic.hpp"
#include "schemes/mlkem/kem.hpp"
#include "schemes/mlkem/single/backend.hpp"

namespace polykem::mlkem::interleaved {
inline namespace POLYKEM_ISA {

template <MlkemParams P, InterleavedInstructionSet Isa, tuning::Cpu kCpu>
constexpr SchemeBackend backend() {
  using Arithmetic = interleaved::Arithmetic<P, Isa>;
  static_assert(mlkem::Arithmetic<Arithmetic>);
  return single::backend<P, Isa, kCpu, Operations<Kem<Steps<P, Arithmetic>>, typename Arithmetic::State>>();
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::mlkem::interleaved
