// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/isa.hpp"

namespace polykem::ckks {

using Wide = unsigned __int128;

/// A constant factor and its quotient by the modulus, floor(value * 2^64 / q), which makes a product two
/// multiplications [HARVEY14, 2].
struct Factor {
  uint64_t value = 0, quotient = 0;
};

/// Arithmetic modulo an odd q with 2 < q < 2^61. Arguments and results are in [0, q) unless noted. No function branches
/// on its arguments' values, which may be secret.
class Modulus {
 public:
  constexpr Modulus() = default;
  POLYKEM_INLINE constexpr explicit Modulus(uint64_t q) : q_(q), ratio_(~Wide{0} / q) {}

  POLYKEM_INLINE constexpr uint64_t value() const { return q_; }
  POLYKEM_INLINE constexpr uint64_t add(uint64_t a, uint64_t b) const { return reduce_once(a + b); }
  POLYKEM_INLINE constexpr uint64_t sub(uint64_t a, uint64_t b) const { return reduce_once(a + q_ - b); }
  POLYKEM_INLINE constexpr uint64_t negate(uint64_t a) const { return reduce_once(q_ - a); }
  POLYKEM_INLINE constexpr uint64_t mul(uint64_t a, uint64_t b) const { return reduce(Wide{a} * b); }
  POLYKEM_INLINE constexpr uint64_t mul(uint64_t a, const Factor& b) const { return reduce_once(mul_lazy(a, b)); }
  /// Returns the product. Range out: [0, 2q). `a` may be any word.
  POLYKEM_INLINE constexpr uint64_t mul_lazy(uint64_t a, const Factor& b) const {
    return a * b.value - static_cast<uint64_t>(Wide{a} * b.quotient >> 64) * q_;
  }
  /// Reduces a. Range in: [0, 2q).
  POLYKEM_INLINE constexpr uint64_t reduce_once(uint64_t a) const {
    const uint64_t less = a - q_;
    return less + (q_ & (0 - (less >> 63)));
  }
  /// Reduces a, which may be any number. This is Barrett's method with the quotient floor(2^128 / q), which is at most
  /// one multiple of q too small.
  POLYKEM_INLINE constexpr uint64_t reduce(Wide a) const {
    const uint64_t high = static_cast<uint64_t>(a >> 64), low = static_cast<uint64_t>(a);
    const uint64_t ratio_high = static_cast<uint64_t>(ratio_ >> 64), ratio_low = static_cast<uint64_t>(ratio_);
    const Wide middle = Wide{low} * ratio_high + static_cast<uint64_t>(Wide{low} * ratio_low >> 64);
    const Wide other = Wide{high} * ratio_low + static_cast<uint64_t>(middle);
    const uint64_t quotient =
        high * ratio_high + static_cast<uint64_t>(middle >> 64) + static_cast<uint64_t>(other >> 64);
    return reduce_once(low - quotient * q_);
  }
  /// Returns a signed number of any size modulo q.
  constexpr uint64_t from_signed(int64_t a) const {
    const uint64_t negative = 0 - static_cast<uint64_t>(a < 0);
    const uint64_t size = reduce((static_cast<uint64_t>(a) ^ negative) - negative);
    return (size & ~negative) | (negate(size) & negative);
  }
  /// Computes a^exponent. The exponent is public.
  constexpr uint64_t pow(uint64_t a, uint64_t exponent) const {
    uint64_t result = 1;
    for (; exponent != 0; exponent >>= 1) {
      if (exponent & 1) result = mul(result, a);
      a = mul(a, a);
    }
    return result;
  }
  /// Returns 1 / a mod q, for a in [1, q) and q prime.
  constexpr uint64_t inverse(uint64_t a) const { return pow(a, q_ - 2); }
  POLYKEM_INLINE constexpr Factor factor(uint64_t a) const { return {a, static_cast<uint64_t>((Wide{a} << 64) / q_)}; }

 private:
  uint64_t q_ = 0;
  Wide ratio_ = 0;  ///< floor(2^128 / q), since q is no power of two
};

}  // namespace polykem::ckks
