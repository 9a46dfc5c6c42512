// SPDX-License-Identifier: Apache-2.0
#include "noise_avx512.hpp"

#include "prim/ntt/avx512/noise.hpp"

namespace polykem::testing {

void forward_noise_avx512(unsigned eta, uint16_t* a, const uint8_t* rows, size_t stride, size_t count) {
  if (eta == 2) return ntt::forward_noise<2, ntt::Canonical>(a, rows, stride, count);
  ntt::forward_noise<3, ntt::Canonical>(a, rows, stride, count);
}

void forward_polys_avx512(uint16_t* a, size_t count) {
  ntt::forward_polys<ntt::Canonical>(a, count);
}

void inverse_polys_avx512(uint16_t* a, size_t count) {
  ntt::each_inverse<1>(a, count, [&](size_t i, const simd::V16* v) {
    for (size_t r = 0; r < ntt::kOneRegisters; ++r)
      ntt::positive(v[r]).store(a + i * ntt::kN + r * simd::V16::kLanes);
  });
}

}  // namespace polykem::testing
