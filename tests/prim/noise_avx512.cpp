// SPDX-License-Identifier: Apache-2.0
#include "noise_avx512.hpp"

#include "schemes/mlkem/x8/noise.hpp"

namespace polykem::test {

void forward_noise_avx512(unsigned eta, uint32_t scale, uint16_t* a, const uint8_t* rows, size_t stride, size_t count) {
  using ntt::Canonical;
  if (scale == 1) {
    return eta == 2 ? mlkem::x8::forward_noise<2, Canonical>(a, rows, stride, count)
                    : mlkem::x8::forward_noise<3, Canonical>(a, rows, stride, count);
  }
  eta == 2 ? mlkem::x8::forward_noise<2, Canonical, kInverseR>(a, rows, stride, count)
           : mlkem::x8::forward_noise<3, Canonical, kInverseR>(a, rows, stride, count);
}

void forward_polys_avx512(uint16_t* a, size_t count) {
  ntt::forward_polys<ntt::Canonical>(a, count);
}

void inverse_polys_avx512(uint16_t* a, size_t count) {
  ntt::each_inverse<1>(a, count, [&](size_t i) {
    for (size_t at = i * ntt::kN; at < (i + 1) * ntt::kN; at += simd::V16::kLanes)
      ntt::to_unsigned(simd::V16::load(a + at)).store(a + at);
  });
}

}  // namespace polykem::test
