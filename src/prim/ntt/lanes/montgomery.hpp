// SPDX-License-Identifier: Apache-2.0
// Products mod 3329 in signed 16-bit lanes by Montgomery's method, and the twiddle factors in its form. NEON has its
// own method (neon/reduction.hpp).
#pragma once

#include <array>

#include "core/range.hpp"
#include "prim/ntt/lanes/modulus.hpp"
#ifdef POLYKEM_ISA_NEON
#include "prim/ntt/neon/reduction.hpp"
#endif

namespace polykem::ntt {
inline namespace POLYKEM_ISA {

#ifndef POLYKEM_ISA_NEON

/// A twiddle factor as a constant: z is the factor times 2^16 mod q, and zq is z / q mod 2^16. Each is stored twice,
/// since 32-bit broadcasts are cheaper.
struct StoredTwiddle {
  uint32_t z, zq;
  static constexpr StoredTwiddle of(uint32_t factor) {
    const uint32_t z = centred(factor % kQ * kR), zq = z * kQInverse & 0xffff;
    return {z * 0x10001u, zq * 0x10001u};
  }
};

/// A twiddle factor in registers; lanes may differ.
struct Twiddle {
  V16 z, zq;
  static POLYKEM_INLINE Twiddle of(const StoredTwiddle& factor) {
    return {V16::set1_pair(factor.z), V16::set1_pair(factor.zq)};
  }
  /// Returns the form of a factor that is known only at run time; products then carry a factor of 2^-16.
  static POLYKEM_INLINE Twiddle of(V16 z) { return {z, z * V16::set1(kQInverse)}; }
};

/// Returns a times the factor mod q, in (-q, q), for any 16-bit a (or, if the factor is not reduced, for
/// |a z| < 2^15 q).
POLYKEM_INLINE V16 mul(V16 a, const Twiddle& t) {
  const V16 product = opaque(mulhi_s(a, t.z) - mulhi_s(a * t.zq, V16::set1(kQ)));
  POLYKEM_ASSERT_WITHIN(product, kQ);
  return product;
}

/// Returns a representative in (-q, q) of any 16-bit word. (check-magic: 20159 == round(2^26 / 3329))
POLYKEM_INLINE V16 barrett(V16 x) {
  return x - mulhrs(mulhi_s(x, V16::set1(20159)), V16::set1(1 << 5)) * V16::set1(kQ);
}

#endif

/// Returns words in (-q, q) mod q, in [0, q).
POLYKEM_INLINE V16 to_unsigned(V16 x) {
  POLYKEM_ASSERT_WITHIN(x, kQ);
  return min_u(x, x + V16::set1(kQ));
}

inline constexpr auto kForwardFactors = [] {
  std::array<StoredTwiddle, 128> factors{};
  for (size_t i = 0; i < factors.size(); ++i)
    factors[i] = StoredTwiddle::of(kZetas[i]);
  return factors;
}();

inline constexpr auto kGammaFactors = [] {
  std::array<StoredTwiddle, 128> factors{};
  for (size_t i = 0; i < factors.size(); ++i)
    factors[i] = StoredTwiddle::of(kGammas[i]);
  return factors;
}();

}  // namespace POLYKEM_ISA
}  // namespace polykem::ntt
