// SPDX-License-Identifier: Apache-2.0
// The number-theoretic transform of Z_3329[x]/(x^256 + 1), one polynomial at a time. [FIPS203, 4.3]
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/isa.hpp"

namespace polykem::ntt {

inline constexpr size_t kN = 256;
inline constexpr uint32_t kQ = 3329;
inline constexpr uint32_t kRoot = 17;  ///< a primitive 256th root of unity mod q

/// Returns the seven bits of i in reverse. [FIPS203, 2.3]
constexpr size_t bit_reversed7(size_t i) {
  size_t reversed = 0;
  for (int bit = 0; bit < 7; ++bit)
    reversed |= (i >> bit & 1) << (6 - bit);
  return reversed;
}

/// Returns kRoot^exponent mod q.
constexpr uint32_t root_power(size_t exponent) {
  uint32_t power = 1;
  for (size_t i = 0; i < exponent; ++i)
    power = power * kRoot % kQ;
  return power;
}

/// The twiddle factors in the order in which Algorithms 9 and 10 use them. [FIPS203, Appendix A]
inline constexpr auto kZetas = [] {
  std::array<uint16_t, 128> zetas{};
  for (size_t i = 0; i < zetas.size(); ++i)
    zetas[i] = static_cast<uint16_t>(root_power(bit_reversed7(i)));
  return zetas;
}();

/// Coefficient pair i of a transform is a polynomial mod x^2 - kGammas[i]. [FIPS203, Alg 11, L2]
inline constexpr auto kGammas = [] {
  std::array<uint16_t, 128> gammas{};
  for (size_t i = 0; i < gammas.size(); ++i)
    gammas[i] = static_cast<uint16_t>(root_power(2 * bit_reversed7(i) + 1));
  return gammas;
}();

/// 1/128 mod q. [FIPS203, Alg 10, L14]
inline constexpr uint32_t kInverse128 = 3303;
static_assert(kInverse128 * 128 % kQ == 1);

inline namespace POLYKEM_ISA {

/// Returns x mod q for x < 2q, without a branch.
constexpr uint32_t reduce_once(uint32_t x) {
  const uint32_t less = x - kQ;
  return less + (kQ & (0u - (less >> 31)));
}

/// Returns x mod q for any x, without a division. (check-magic: 1290167 == floor(2^32 / 3329))
constexpr uint32_t reduce(uint32_t x) {
  const auto quotient = static_cast<uint32_t>((uint64_t{x} * 1290167u) >> 32);
  return reduce_once(x - quotient * kQ);
}

}  // namespace POLYKEM_ISA

/// Computes the transform in place; coefficients are in [0, q) before and afterwards. [FIPS203, Alg 9]
void forward(uint16_t a[kN]);

/// Computes the inverse in place; coefficients are in [0, q) before and afterwards. [FIPS203, Alg 10]
void inverse(uint16_t a[kN]);

/// Multiplies transforms, coefficient pair by coefficient pair: sets c to the sum of the products of `terms` transforms
/// a[256 i ..] and b[256 i ..], i < terms <= 4. Coefficients of a are below 2^12, those of b and c in [0, q).
/// [FIPS203, Alg 11]
void multiply(uint16_t c[kN], const uint16_t* a, const uint16_t* b, size_t terms);

}  // namespace polykem::ntt
