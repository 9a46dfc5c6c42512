// SPDX-License-Identifier: Apache-2.0
// The transform of one polynomial, with its coefficients in registers. Butterflies that are at least as long as a
// register take two registers. For shorter ones, blocks of as many registers as there are lanes are transposed, and
// transposed back afterwards.
#pragma once

#include "schemes/mldsa/lanes/words.hpp"
#include "schemes/mldsa/types.hpp"

namespace polykem::mldsa::lanes {
inline namespace POLYKEM_ISA {

inline constexpr size_t kRows = kN / kLanes, kBlocks = kRows / kLanes;

constexpr int32_t by_inverse_of_q(int32_t x) {
  return static_cast<int32_t>(static_cast<uint32_t>(x) * static_cast<uint32_t>(kInverseQ));
}

/// Returns the index of the entry of kZetas that butterflies of a length take in a group. Coefficients from `start` on
/// are in group start / (2 length). [FIPS204, Alg 41, L8; Alg 42, L8]
template <bool kInverse>
constexpr size_t zeta_of(size_t length, size_t group) {
  return kInverse ? kN / length - 1 - group : kN / 2 / length + group;
}

template <bool kInverse>
POLYKEM_INLINE Factor long_factor(size_t length, size_t group) {
  const int32_t zeta = kZetas[zeta_of<kInverse>(length, group)];
  return {V32::set1(zeta), V32::set1(by_inverse_of_q(zeta))};
}

/// The factors of butterflies that are shorter than a register, for transposed blocks: a lane has kLanes neighbouring
/// coefficients, which are one group or several.
template <bool kInverse>
struct ShortFactors {
  static constexpr size_t kGroups = kLanes - 1;
  alignas(64) int32_t value[kGroups][kBlocks][kLanes], by_inverse[kGroups][kBlocks][kLanes];

  constexpr ShortFactors() : value{}, by_inverse{} {
    for (size_t length = kLanes / 2; length >= 1; length /= 2) {
      for (size_t group = 0; group < kLanes / 2 / length; ++group) {
        for (size_t block = 0; block < kBlocks; ++block) {
          for (size_t lane = 0; lane < kLanes; ++lane) {
            const size_t start = kLanes * (kLanes * block + lane) + 2 * length * group;
            const int32_t zeta = kZetas[zeta_of<kInverse>(length, start / (2 * length))];
            value[at(length, group)][block][lane] = zeta;
            by_inverse[at(length, group)][block][lane] = by_inverse_of_q(zeta);
          }
        }
      }
    }
  }

  static constexpr size_t at(size_t length, size_t group) { return kLanes / 2 / length - 1 + group; }
  Factor of(size_t length, size_t group, size_t block) const {
    return {V32::load(value[at(length, group)][block]), V32::load(by_inverse[at(length, group)][block])};
  }
};
template <bool kInverse>
inline constexpr ShortFactors<kInverse> kShortFactors;

/// Replaces a by a + zeta b and b by a - zeta b. [FIPS204, Alg 41, L10-12]
POLYKEM_INLINE void butterfly(V32& a, V32& b, Factor zeta) {
  const V32 t = montgomery(b, zeta);
  b = a - t;
  a = a + t;
}
/// Multiplies b - a by zeta, where the standard multiplies a - b by -zeta. [FIPS204, Alg 42, L10-13]
POLYKEM_INLINE void inverse_butterfly(V32& a, V32& b, Factor zeta) {
  const V32 t = b - a;
  a = a + b;
  b = montgomery(t, zeta);
}

/// Computes the butterflies of registers of r that are kDistance apart. factor(group) is the factor of a group, which
/// is 2 kDistance registers.
template <bool kInverse, size_t kDistance, size_t kCount, class F>
POLYKEM_INLINE void layer(V32 (&r)[kCount], F&& factor) {
#pragma GCC unroll 16
  for (size_t group = 0; group < kCount / (2 * kDistance); ++group) {
    const Factor zeta = factor(group);
#pragma GCC unroll 16
    for (size_t i = 2 * kDistance * group; i < 2 * kDistance * group + kDistance; ++i) {
      if constexpr (kInverse) {
        inverse_butterfly(r[i], r[i + kDistance], zeta);
      } else {
        butterfly(r[i], r[i + kDistance], zeta);
      }
    }
  }
}

/// Computes all layers from kDistance to kEnd. The inverse begins with the shortest distance, the transform with the
/// longest. factor(distance, group) is the factor of a group.
template <bool kInverse, size_t kDistance, size_t kEnd, size_t kCount, class F>
POLYKEM_INLINE void layers(V32 (&r)[kCount], F&& factor) {
  layer<kInverse, kDistance>(r, [&](size_t group) { return factor(kDistance, group); });
  if constexpr (kDistance != kEnd) layers<kInverse, kInverse ? 2 * kDistance : kDistance / 2, kEnd>(r, factor);
}

template <size_t kCount>
POLYKEM_INLINE void load_all(V32 (&r)[kCount], const int32_t* c) {
#pragma GCC unroll 32
  for (size_t i = 0; i < kCount; ++i)
    r[i] = V32::load(c + kLanes * i);
}
template <size_t kCount>
POLYKEM_INLINE void store_all(int32_t* c, const V32 (&r)[kCount]) {
#pragma GCC unroll 32
  for (size_t i = 0; i < kCount; ++i)
    r[i].store(c + kLanes * i);
}

/// Computes the layers whose butterflies take whole registers, except for the last one of the inverse.
template <bool kInverse>
POLYKEM_INLINE void long_layers(V32 (&r)[kRows]) {
  layers<kInverse, kInverse ? 1 : kRows / 2, kInverse ? kRows / 4 : 1>(
      r, [](size_t distance, size_t group) { return long_factor<kInverse>(kLanes * distance, group); });
}

/// Computes the layers within registers, block after block.
template <bool kInverse>
inline void short_layers(Poly& a) {
  for (size_t block = 0; block < kBlocks; ++block) {
    V32 rows[kLanes];
    load_all(rows, a.c + block * kLanes * kLanes);
    simd::transpose32(rows);
    layers<kInverse, kInverse ? 1 : kLanes / 2, kInverse ? kLanes / 2 : 1>(
        rows, [&](size_t length, size_t group) { return kShortFactors<kInverse>.of(length, group, block); });
    simd::transpose32(rows);
    store_all(a.c + block * kLanes * kLanes, rows);
  }
}

/// Computes the last layer of the inverse transform and multiplies by its last factor, which the factor of the
/// differences contains already.
POLYKEM_INLINE void last_inverse_layer(V32 (&r)[kRows]) {
  constexpr int32_t kOfSum = kInverse256, kOfDifference = mldsa::montgomery(int64_t{-kZetas[1]} * kInverse256);
  const Factor of_sum{V32::set1(kOfSum), V32::set1(by_inverse_of_q(kOfSum))};
  const Factor of_difference{V32::set1(kOfDifference), V32::set1(by_inverse_of_q(kOfDifference))};
#pragma GCC unroll 32
  for (size_t i = 0; i < kRows / 2; ++i) {
    const V32 sum = r[i] + r[i + kRows / 2], difference = r[i] - r[i + kRows / 2];
    r[i] = montgomery(sum, of_sum);
    r[i + kRows / 2] = montgomery(difference, of_difference);
  }
}

/// Transforms a polynomial in place; |c| < q before, |c| < 9 q after. [FIPS204, Alg 41]
inline void ntt(Poly& a) {
  V32 r[kRows];
  load_all(r, a.c);
  long_layers<false>(r);
  store_all(a.c, r);
  short_layers<false>(a);
}

/// Transforms a Montgomery product back in place and removes its factor; |c| < q before and after. [FIPS204, Alg 42]
inline void inverse_ntt(Poly& a) {
  short_layers<true>(a);
  V32 r[kRows];
  load_all(r, a.c);
  long_layers<true>(r);
  last_inverse_layer(r);
  store_all(a.c, r);
}

/// Computes out = the sum over i < terms <= 7 of a[i] b[i] / 2^32, coefficient by coefficient.
/// a is in [0, q), |b| < 9 q, and |out| < q. [FIPS204, Alg 45, Alg 48]
inline void multiply(Poly& out, const Poly* a, const Poly* b, size_t terms) {
  for (size_t j = 0; j < kN; j += kLanes) {
    V32 even = V32::set1(0), odds = V32::set1(0);
    for (size_t i = 0; i < terms; ++i) {
      const V32 x = V32::load(a[i].c + j), y = V32::load(b[i].c + j);
      even = wide_add(even, wide_product(x, y));
      odds = wide_add(odds, wide_product(x.odd(), y.odd()));
    }
    montgomery_of(even, odds).store(out.c + j);
  }
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::mldsa::lanes
