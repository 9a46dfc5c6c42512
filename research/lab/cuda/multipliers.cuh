// SPDX-License-Identifier: Apache-2.0
// What the multipliers' kernels share.
#pragma once

#include "multipliers.hpp"
#include "prim/polymul/cuda/limbs.cuh"

namespace polykem::cuda {

/// Loads a lane's groups of one row; all loads are issued before any is used. The row is 16-byte aligned.
template <int N, MulKind kKind>
__device__ __forceinline__ void load_groups(LimbGroups<N, kKind>& group, const uint16_t* row) {
  using Shape = LimbShape<N, kKind>;
  const uint4* source = reinterpret_cast<const uint4*>(row);
  const unsigned lane = threadIdx.x % kWarp;
#pragma unroll
  for (int i = 0; i < Shape::kRounds; ++i) {
    const int j = lane + 32 * i;
    group[i] = (i + 1) * 32 <= Shape::kGroups || j < Shape::kGroups ? source[j] : make_uint4(0, 0, 0, 0);
  }
}

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
