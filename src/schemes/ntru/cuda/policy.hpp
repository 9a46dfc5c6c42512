// SPDX-License-Identifier: Apache-2.0
// Which multiplier a product of NTRU runs on.
#pragma once

#include "prim/polymul/cuda/polymul_cuda.hpp"

namespace polykem::ntru::cuda {

/// The best of those that take the product; operands distinct per item.
inline polykem::cuda::Multiplier multiplier(polykem::cuda::MulKind kind, size_t n, unsigned logq) {
  using polykem::cuda::Multiplier;
  for (const Multiplier candidate : {Multiplier::imma_tmvp, Multiplier::imma}) {
    if (polykem::cuda::multiplier_supports(candidate, kind, n, logq, polykem::cuda::Shared::none)) return candidate;
  }
  return Multiplier::schoolbook_int32;
}

}  // namespace polykem::ntru::cuda
