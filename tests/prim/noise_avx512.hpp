// SPDX-License-Identifier: Apache-2.0
// Transforms that only kernels with AVX-512 use, compiled for it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace polykem::test {

/// 1 / 2^16 mod q.
inline constexpr uint32_t kInverseR = 169;
/// See ntt::forward_noise; canonical. eta: 2 or 3; scale: 1 or kInverseR.
void forward_noise_avx512(unsigned eta, uint32_t scale, uint16_t* a, const uint8_t* rows, size_t stride, size_t count);
/// See ntt::forward_polys and ntt::each_inverse; canonical.
void forward_polys_avx512(uint16_t* a, size_t count);
void inverse_polys_avx512(uint16_t* a, size_t count);

}  // namespace polykem::test
