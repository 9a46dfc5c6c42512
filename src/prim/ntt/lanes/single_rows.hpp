// SPDX-License-Identifier: Apache-2.0
// The transform of a single polynomial where a register has 16 lanes: 16 rows of 16 words. Four layers combine rows;
// the other three do so after a transposition.
#pragma once

#include "core/secure.hpp"
#include "prim/ntt/lanes/single_products.hpp"
#include "prim/ntt/lanes/transform.hpp"
#include "prim/polymul/lanes/transpose.hpp"

namespace polykem::ntt {
inline namespace POLYKEM_ISA {

inline constexpr size_t kSide = 16;
static_assert(V16::kLanes == kSide);

/// The words of a Twiddle whose lanes differ.
struct alignas(32) LaneFactor {
  uint16_t z[kSide], zq[kSide];
  constexpr void set(size_t lane, const StoredTwiddle& factor) {
    z[lane] = static_cast<uint16_t>(factor.z);
    zq[lane] = static_cast<uint16_t>(factor.zq);
  }
  POLYKEM_INLINE Twiddle load() const { return {V16::load(z), V16::load(zq)}; }
};

inline constexpr size_t kRowLayers = 4;

/// The factors of layers 4 to 6 after the transposition, when lane i holds the 16 coefficients from 16 i on. Layer t of
/// these three has the 2^t factors from number 2^t on.
using LaneFactors = std::array<LaneFactor, 8>;

template <bool kReversed>
constexpr LaneFactors lane_factors() {
  LaneFactors result{};
  for (size_t t = 0; t < 3; ++t) {
    for (size_t block = 0; block < 1u << t; ++block) {
      for (size_t lane = 0; lane < kSide; ++lane) {
        const size_t number = (lane << t) + block, first = 1u << (kRowLayers + t);
        result[(1u << t) + block].set(lane, kForwardFactors[kReversed ? 2 * first - 1 - number : first + number]);
      }
    }
  }
  return result;
}

struct TransposedFactors {
  static constexpr LaneFactors kForward = lane_factors<false>(), kInverse = lane_factors<true>();

  static POLYKEM_INLINE Twiddle forward(size_t layer, size_t block) { return kForward[(1u << layer) + block].load(); }
  static POLYKEM_INLINE Twiddle inverse(size_t layer, size_t block) { return kInverse[(1u << layer) + block].load(); }
};

inline void transpose(uint16_t* to, const uint16_t* from) {
  polymul::transpose_tile<kSide, kSide>(to, from);
}

inline void forward_single(uint16_t* a) {
  alignas(64) uint16_t transposed[kN];
  forward_pass<kSide, 0, 2>(a);
  forward_pass<kSide, 2, 2>(a);
  transpose(transposed, a);
  forward_pass<kSide, 0, 3, TransposedFactors>(transposed);
  for (size_t i = 0; i < kN; i += kSide)
    to_unsigned(barrett(V16::load(transposed + i))).store(transposed + i);
  transpose(a, transposed);
  zeroize(transposed, sizeof transposed);
}

inline void inverse_single(uint16_t* a) {
  alignas(64) uint16_t transposed[kN];
  transpose(transposed, a);
  inverse_pass<kSide, 0, 3, TransposedFactors>(transposed, ReduceFirst<4>());
  transpose(a, transposed);
  inverse_pass<kSide, 2, 2>(a, ReduceFirst<2>());
  const Twiddle scale = Twiddle::of(StoredTwiddle::of(kInverse128));
  inverse_pass<kSide, 0, 2>(
      a, [&](auto, V16 x) __attribute__((always_inline)) { return to_unsigned(mul(x, scale)); });
  zeroize(transposed, sizeof transposed);
}

inline void multiply_single(uint16_t* c, const uint16_t* a, const uint16_t* b, size_t terms) {
  const Twiddle scale = Twiddle::of(StoredTwiddle::of(kR));
  for (size_t i = 0; i < kN; i += kSide) {
    const Twiddle gamma = kGammasOfOne[i / kSide].load();
    V16 even = V16::zero(), odd = even;  // within sum_bound(terms, kQ)
    for (size_t term = 0; term < terms; ++term) {
      const V16 x = V16::load(a + term * kN + i), y = V16::load(b + term * kN + i);
      even = add_products(even, x, even_odd(y, mul(y, gamma)));
      odd = add_products(odd, x, swapped_pairs(y));
    }
    to_unsigned(mul(montgomery_pairs(even, odd), scale)).store(c + i);
  }
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::ntt
