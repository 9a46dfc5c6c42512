// SPDX-License-Identifier: Apache-2.0
// Arithmetic modulo q = 2^23 - 2^13 + 1 on signed words, and the factors of the transform. [FIPS204, 7.5]
#pragma once

#include <array>

#include "core/isa.hpp"
#include "schemes/mldsa/params.hpp"

namespace polykem::mldsa {

inline constexpr int32_t kRoot = 1753;          ///< a primitive 512th root of unity
inline constexpr int32_t kInverseQ = 58728449;  ///< q^-1 mod 2^32
static_assert(static_cast<uint32_t>(kInverseQ) * static_cast<uint32_t>(kQ) == 1);

/// Returns x mod q in (-q/2, q/2].
constexpr int32_t centred(int64_t x) {
  const auto r = static_cast<int32_t>((x % kQ + kQ) % kQ);
  return r > kQ / 2 ? r - kQ : r;
}

/// Returns x 2^32 mod q in (-q/2, q/2].
constexpr int32_t to_montgomery(int64_t x) {
  return centred(centred(x) * (int64_t{1} << 32) % kQ);
}

/// Entry i is zeta^BitRev8(i) in Montgomery form. [FIPS204, 7.5; Appendix B]
inline constexpr auto kZetas = [] {
  std::array<int32_t, 256> zetas{};
  int64_t power = 1;
  for (size_t exponent = 0; exponent < 256; ++exponent) {
    size_t reversed = 0;
    for (int bit = 0; bit < 8; ++bit)
      reversed |= (exponent >> bit & 1) << (7 - bit);
    zetas[reversed] = to_montgomery(power);
    power = power * kRoot % kQ;
  }
  return zetas;
}();

/// 2^64 / 256 mod q: the last factor of the inverse transform of a Montgomery product. [FIPS204, Alg 42, L21]
inline constexpr int32_t kInverse256 = to_montgomery(to_montgomery(8347681));
static_assert(int64_t{8347681} * 256 % kQ == 1);

inline namespace POLYKEM_ISA {

/// Returns x / 2^32 mod q in (-q, q), for |x| < 2^31 q. [FIPS204, Alg 49]
constexpr int32_t montgomery(int64_t x) {
  const auto t = static_cast<int32_t>(static_cast<uint32_t>(x) * static_cast<uint32_t>(kInverseQ));
  return static_cast<int32_t>((x - int64_t{t} * kQ) >> 32);
}

/// Returns all ones if x < 0, otherwise 0.
constexpr int32_t mask_negative(int32_t x) {
  return x >> 31;
}

/// Returns x mod q in [0, q), for x in (-q, q).
constexpr int32_t canonical(int32_t x) {
  return x + (mask_negative(x) & kQ);
}

/// Returns a representative of x in (-q, q), for x in (-2^31 + 2^22, 2^31 - 2^22).
constexpr int32_t reduced(int32_t x) {
  return x - ((x + (1 << 22)) >> 23) * kQ;
}

/// Returns x mod q in (-q/2, q/2], for x in (-q, q).
constexpr int32_t centred_once(int32_t x) {
  const int32_t r = canonical(x);
  return r - (mask_negative((kQ - 1) / 2 - r) & kQ);
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::mldsa
