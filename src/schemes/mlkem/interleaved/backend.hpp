// SPDX-License-Identifier: Apache-2.0
// The operations of a vector backend.
#pragma once

#include "core/item_by_item.hpp"
#include "schemes/mlkem/interleaved/layout.hpp"
#include "schemes/mlkem/kem.hpp"
#include "schemes/mlkem/keys.hpp"
#include "schemes/mlkem/single/ops.hpp"
#include "tuning/small_batches.hpp"

namespace polykem::mlkem::interleaved {
inline namespace POLYKEM_ISA {

/// Returns a vector backend for set P. The limits of kCpu say which batches it computes item after item, by a plan of
/// their own; it computes the others with one item per lane.
template <MlkemParams P, InstructionSet Isa, tuning::Cpu kCpu>
constexpr SchemeBackend backend() {
  constexpr const tuning::Row& row = tuning::row(tuning::kMlkem, kCpu, P.k);
  using Layout = interleaved::Layout<P, Isa>;
  static_assert(mlkem::Layout<Layout>);
  using Blocks = Operations<Kem<Steps<P, Layout>>, typename Layout::Chunk>;
  using Keys = mlkem::Keys<P, single::Layout<P, Isa>>;
  using Singles = single::SingleOperations<P, Isa, row.hashes_together>;
  SchemeBackend result = scheme_backend<SharedKeyFirst<Blocks, Keys>>(Isa::kName);
  add_small_batches<SharedKeyFirst<Singles, Keys>>(result, row.limits(true));
  result.expanded_public_key = Keys::kExpandedPublicKey;
  result.expanded_secret_key = Keys::kExpandedSecretKey;
  return result;
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::mlkem::interleaved
