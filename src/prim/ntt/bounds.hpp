// SPDX-License-Identifier: Apache-2.0
// Bounds on signed words mod 3329 before they are reduced. A word x is within b if |x| < b.
#pragma once

#include <cstddef>
#include <cstdint>

#include "prim/ntt/ntt.hpp"

namespace polykem::ntt {

inline constexpr int kWordBound = 1 << 15;

/// Returns the bound of 2^-16 x mod q by Montgomery's method, (x - m q) / 2^16 with a 16-bit m, for x within `bound`.
constexpr int montgomery_bound(int64_t bound) {
  return static_cast<int>((bound - 1 + (int64_t{kQ} << 15)) >> 16) + 1;
}

/// The bound of any word times a factor of size at most q / 2, by Montgomery's method.
inline constexpr int kTwiddledBound = montgomery_bound(int64_t{kWordBound} * (kQ / 2) + 1);
/// Returns the bound of words within `bound` after `layers` layers of the transform, each of which adds a product
/// within kTwiddledBound. [FIPS203, Alg 9]
constexpr int forward_bound(int bound, size_t layers) {
  return bound + static_cast<int>(layers) * kTwiddledBound;
}

/// The bound of words within q after all seven layers, on NEON too, whose products are within q. Another word within q
/// may be added.
inline constexpr int kTransformBound = (1 + 7) * int{kQ};
static_assert(kTransformBound + int{kQ} <= kWordBound);

/// Returns the bound of the sum of the products of `terms` pairs of transforms: coefficients of the first are below
/// 2^12, even ones of the second are within q, and odd ones within `odd`.
constexpr int64_t sum_bound(int64_t terms, int64_t odd) {
  return (terms * (odd + kQ)) << 12;
}
/// The bound of 2^-16 times a sum of up to three products. With four terms, all coefficients of the second transforms
/// are within q, and so is the result. [FIPS203, Alg 11]
inline constexpr int kProductBound = montgomery_bound(sum_bound(3, kTransformBound));
static_assert(montgomery_bound(sum_bound(4, kQ)) <= int{kQ});

/// Returns the bound of words within `bound` after `layers` layers of the inverse, each of which adds two words.
/// [FIPS203, Alg 10]
constexpr int inverse_bound(int bound, size_t layers) {
  return bound << layers;
}
static_assert(inverse_bound(kProductBound, 2) <= kWordBound && inverse_bound(kQ, 3) <= kWordBound);

/// Words that are compressed are in [0, kCompressBound).
inline constexpr int kCompressBound = 4 * int{kQ};

}  // namespace polykem::ntt
