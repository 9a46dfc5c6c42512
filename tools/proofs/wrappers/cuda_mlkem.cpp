// SPDX-License-Identifier: Apache-2.0
// ML-KEM's unpacking and noise in the device headers, compiled for the host, for proofs: tools/proofs/README.md.
#include "core/isa.hpp"

#if !defined(POLYKEM_ISA_AVX2) && !defined(POLYKEM_ISA_AVX512) && !defined(POLYKEM_ISA_NEON)

// Vectors of the host would only take longer to prove.
#pragma GCC optimize("no-tree-vectorize")

#include "tools/proofs/wrappers/cuda_warp.hpp"

// After the keywords. The exchange between columns and rows is for NVIDIA's compiler only.
#define __CUDACC__
#include "prim/ntt/cuda/ntt.cuh"
#undef __CUDACC__
#include "schemes/mlkem/cuda/sample.cuh"

namespace kem = polykem::mlkem::cuda;

namespace {
template <int kBits>
void unpack(uint32_t* out, const uint8_t* packed) {
  for (unsigned lane = 0; lane < kem::kPolyLanes; ++lane) {
    kem::Coefficients fields;
    kem::unpack<kBits>(fields, kem::load_packed<kBits>(packed, lane));
    for (unsigned r = 0; r < kem::kLaneCoefficients; ++r)
      out[16 * lane + r] = fields[r];
  }
}
/// Turns values of 4 bits into a row of noise, and unpacks it.
template <unsigned kEta>
void unpack_noise(uint32_t* out, uint32_t (&row)[32]) {
  kem::noise_row(row);
  for (unsigned lane = 0; lane < kem::kPolyLanes; ++lane) {
    kem::Coefficients column;
    kem::unpack_noise<kEta>(column, make_uint2(row[2 * lane], row[2 * lane + 1]));
    for (unsigned r = 0; r < kem::kLaneCoefficients; ++r)
      out[lane + 16 * r] = column[r];
  }
}
}  // namespace

#define UNPACK(bits)                                                               \
  extern "C" void cuda_mlkem_unpack_##bits(uint32_t* out, const uint8_t* packed) { \
    unpack<bits>(out, packed);                                                     \
  }
UNPACK(4)
UNPACK(5)
UNPACK(10)
UNPACK(11)
UNPACK(12)
extern "C" void cuda_mlkem_noise_2(uint32_t* out, const uint32_t* bits) {
  uint32_t row[32];
  for (int w = 0; w < 32; ++w)
    row[w] = kem::cbd2(bits[w]);
  unpack_noise<2>(out, row);
}
extern "C" void cuda_mlkem_noise_3(uint32_t* out, const uint32_t* bits) {
  uint32_t row[32];
  for (int t = 0; t < 16; ++t)
    kem::cbd3_words(row[2 * t], row[2 * t + 1], bits[3 * t], bits[3 * t + 1], bits[3 * t + 2]);
  unpack_noise<3>(out, row);
}

#endif
