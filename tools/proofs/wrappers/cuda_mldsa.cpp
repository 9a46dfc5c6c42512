// SPDX-License-Identifier: Apache-2.0
// ML-DSA's inverse transform in the device headers, compiled for the host, for proofs: tools/proofs/README.md.
#include "core/isa.hpp"

#if !defined(POLYKEM_ISA_AVX2) && !defined(POLYKEM_ISA_AVX512) && !defined(POLYKEM_ISA_NEON)

// Vectors of the host would only take longer to prove.
#pragma GCC optimize("no-tree-vectorize")

#include "tools/proofs/wrappers/cuda_warp.hpp"

// After the keywords. The exchange between columns and rows is for NVIDIA's compiler only.
#define __CUDACC__
#include "prim/ntt/cuda/ntt.cuh"
#undef __CUDACC__
#include "schemes/mldsa/cuda/transform.cuh"

namespace dsa = polykem::mldsa::cuda;

/// Reads rows and writes columns, between which the lanes exchange once.
extern "C" void cuda_mldsa_inverse(uint32_t* out, const uint32_t* in, uint32_t* exchange) {
  polykem::host_warp::as_warp(2, [&](unsigned lane) {
    if (lane >= dsa::kPolyLanes) return;
    polykem::cuda::Coefficients own;
    for (unsigned r = 0; r < dsa::kLaneCoefficients; ++r)
      own[r] = in[16 * lane + r];
    dsa::inverse_transform(own, exchange, lane);
    for (unsigned r = 0; r < dsa::kLaneCoefficients; ++r)
      out[lane + 16 * r] = own[r];
  });
}

#endif
