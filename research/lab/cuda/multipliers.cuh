// SPDX-License-Identifier: Apache-2.0
// What the multipliers' launches share.
#pragma once

#include "multipliers.hpp"
#include "prim/polymul/cuda/polymul_cuda.cuh"

namespace polykem::cuda {

/// Calls f with degree and kind as compile-time constants.
template <class F>
cudaError_t with_degree_and_kind(size_t n, MulKind kind, F&& f) {
  return with_degree(n, [&]<int N>() {
    switch (kind) {
      case MulKind::kTernary:
        return f.template operator()<N, MulKind::kTernary>();
      case MulKind::kGeneral:
        return f.template operator()<N, MulKind::kGeneral>();
      case MulKind::kS3:
        return f.template operator()<N, MulKind::kS3>();
      case MulKind::kBytes:  // only imma has it
      case MulKind::kShort:
        return cudaErrorInvalidValue;
    }
    return cudaErrorInvalidValue;
  });
}

}  // namespace polykem::cuda
