// SPDX-License-Identifier: Apache-2.0
// How large signed words mod 3329 grow before they are reduced. A word x is within b if |x| < b.
#pragma once

#include <cstddef>
#include <cstdint>

#include "prim/ntt/ntt.hpp"

namespace polykem::ntt {

inline constexpr int kWordBound = 1 << 15;

/// 2^-16 x mod q after Montgomery, (x - m q) / 2^16 with a 16-bit m, for x within `bound`.
constexpr int montgomery_bound(int64_t bound) {
  return static_cast<int>((bound - 1 + (int64_t{kQ} << 15)) >> 16) + 1;
}

/// Any word times a factor of size at most q / 2, after Montgomery.
inline constexpr int kTwiddledBound = montgomery_bound(int64_t{kWordBound} * (kQ / 2) + 1);
/// Words within `bound` after `layers` layers of the transform, each of which adds such a product. [FIPS203, Alg 9]
constexpr int forward_bound(int bound, size_t layers) {
  return bound + static_cast<int>(layers) * kTwiddledBound;
}

/// Words within q after all seven layers, on NEON too, whose products are within q. Another one may be added.
inline constexpr int kTransformBound = (1 + 7) * int{kQ};
static_assert(kTransformBound + int{kQ} <= kWordBound);

/// The sum of the products of `terms` pairs of transforms: coefficients of the first are below 2^12, even ones of the
/// second within q, and odd ones within `odd`.
constexpr int64_t sum_bound(int64_t terms, int64_t odd) {
  return (terms * (odd + kQ)) << 12;
}
/// 2^-16 times such a sum; of four terms all coefficients are within q, and so is it. [FIPS203, Alg 11]
inline constexpr int kProductBound = montgomery_bound(sum_bound(3, kTransformBound));
static_assert(montgomery_bound(sum_bound(4, kQ)) <= int{kQ});

/// Words within `bound` after `layers` layers of the inverse, each of which adds two. [FIPS203, Alg 10]
constexpr int inverse_bound(int bound, size_t layers) {
  return bound << layers;
}
static_assert(inverse_bound(kProductBound, 2) <= kWordBound && inverse_bound(kQ, 3) <= kWordBound);

/// What may be compressed is in [0, kCompressBound).
inline constexpr int kCompressBound = 4 * int{kQ};

}  // namespace polykem::ntt
