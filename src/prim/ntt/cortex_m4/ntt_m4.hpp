// SPDX-License-Identifier: Apache-2.0
// ML-KEM's transform and products for the Cortex-M4. Coefficients are signed and need not be reduced. [FIPS203, 4.3]
#pragma once

#include <cstddef>
#include <cstdint>

#include "prim/ntt/ntt.hpp"

namespace polykem::cortex_m4 {

/// Returns the constant by which Plantard's method multiplies with `factor` mod q: see transform.S. [Plantard21]
constexpr int32_t plantard_constant(uint32_t factor) {
  constexpr uint32_t kInverse = 1806234369u;
  static_assert(kInverse * ntt::kQ == 1);
  constexpr auto kMinusR = static_cast<uint32_t>(ntt::kQ - (uint64_t{1} << 32) % ntt::kQ);
  return static_cast<int32_t>(factor * kMinusR % ntt::kQ * kInverse);
}

/// Computes the transform in place. `a` has 256 signed values between -20,000 and 20,000; afterwards they are at most
/// 7 q / 2 larger in size.
void ntt_forward(uint16_t* a);

/// Computes the inverse in place. `a` has 256 signed values of size at most 2,500; afterwards they are of size at most
/// q / 2.
void ntt_inverse(uint16_t* a);

/// Sets products[i] to gamma_i times the odd coefficient of pair i of the transform b: 128 signed values.
/// [FIPS203, Alg 11, L2]
void gamma_products(uint16_t* products, const uint16_t* b);

/// Sets c to the sum of the products of kTerms transforms a[256 i ..] and b[256 i ..]. `products` are those that
/// gamma_products() makes of b, 128 for each transform. Values of a are between 0 and 4,095; b has any that ntt_forward
/// makes. Values of c are signed and of size at most 2,500; c may be the first transform of a.
template <size_t kTerms>
void ntt_multiply(uint16_t* c, const uint16_t* a, const uint16_t* b, const uint16_t* products);

extern template void ntt_multiply<2>(uint16_t*, const uint16_t*, const uint16_t*, const uint16_t*);
extern template void ntt_multiply<3>(uint16_t*, const uint16_t*, const uint16_t*, const uint16_t*);
extern template void ntt_multiply<4>(uint16_t*, const uint16_t*, const uint16_t*, const uint16_t*);

}  // namespace polykem::cortex_m4
