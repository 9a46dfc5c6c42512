// SPDX-License-Identifier: Apache-2.0
// The operations of a vector backend, which computes one item per lane, and small batches item after item.
#pragma once

#include "schemes/saber/interleaved/arithmetic.hpp"
#include "schemes/saber/ref/backend.hpp"
#include "schemes/saber/single/prims.hpp"
#include "tuning/small_batches.hpp"

namespace polykem::saber::interleaved {
inline namespace POLYKEM_ISA {

template <SaberParams P, InstructionSet Isa, tuning::Cpu kCpu>
constexpr SchemeBackend backend() {
  using Arithmetic = interleaved::Arithmetic<P, Isa>;
  static_assert(saber::Arithmetic<Arithmetic> && saber::Arithmetic<ref::Arithmetic<P, single::Prims<Isa>>>);
  using Keys = ref::Keys<P, single::Prims<Isa>>;
  using Interleaved = Operations<Kem<Steps<P, Arithmetic>>, typename Arithmetic::State>;
  SchemeBackend result = scheme_backend<SharedKeyFirst<Interleaved, Keys>>(Isa::kName);
  add_small_batches<ref::Items<P, single::Prims<Isa>>>(result, tuning::row(tuning::kSaber, kCpu).limits(false));
  result.expanded_public_key = Keys::kExpandedPublicKey;
  result.expanded_secret_key = Keys::kExpandedSecretKey;
  return result;
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::saber::interleaved
