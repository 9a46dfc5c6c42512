// SPDX-License-Identifier: Apache-2.0
// The operations of a vector backend that computes small batches item after item.
#pragma once

#include "core/item_by_item.hpp"
#include "schemes/mlkem/keys.hpp"
#include "schemes/mlkem/single/steps.hpp"
#include "tuning/small_batches.hpp"

namespace polykem::mlkem::single {
inline namespace POLYKEM_ISA {

/// Returns a backend for set P that computes small batches item after item and all others with `Many`. The limits of
/// kCpu say which batches are small.
template <MlkemParams P, InstructionSet Isa, tuning::Cpu kCpu, class Many>
constexpr SchemeBackend backend() {
  constexpr const tuning::Row& row = tuning::row(tuning::kMlkem, kCpu, P.k);
  using Keys = mlkem::Keys<P, single::Arithmetic<P, Isa>>;
  using Singles = single::SingleOperations<P, Isa, row.hashes_together>;
  SchemeBackend result = scheme_backend<SharedKeyFirst<Many, Keys>>(Isa::kName);
  add_small_batches<SharedKeyFirst<Singles, Keys>>(result, row.limits(true));
  result.expanded_public_key = Keys::kExpandedPublicKey;
  result.expanded_secret_key = Keys::kExpandedSecretKey;
  return result;
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::mlkem::single
