// SPDX-License-Identifier: Apache-2.0
// The transform with an item per lane: a butterfly combines two rows, so no lanes are shuffled. A pass computes up to
// three layers on rows that stay in registers.
#pragma once

#include "core/unroll.hpp"
#include "prim/ntt/lanes/montgomery.hpp"

namespace polykem::ntt {
inline namespace POLYKEM_ISA {

/// Computes a butterfly of Cooley and Tukey: results grow by q, so a is within kWordBound - q. [FIPS203, Alg 9, L8-12]
POLYKEM_INLINE void butterfly(V16& a, V16& b, const Twiddle& zeta) {
  POLYKEM_ASSERT_WITHIN(a, kWordBound - int{kQ});
  const V16 t = mul(b, zeta);
  b = a - t;
  a = a + t;
}

/// Computes a butterfly of Gentleman and Sande: the sum may be twice as large as its terms, the product is in (-q, q).
/// [FIPS203, Alg 10, L7-11]
POLYKEM_INLINE void inverse_butterfly(V16& a, V16& b, const Twiddle& zeta) {
  POLYKEM_ASSERT_WITHIN(a, kWordBound / 2);
  POLYKEM_ASSERT_WITHIN(b, kWordBound / 2);
  const V16 difference = b - a;
  a = a + b;
  b = mul(difference, zeta);
}

/// The factors of a transform of rows: one for all lanes, by number of layer and block. They are broadcast from memory;
/// known constants would come from general registers, through the unit for shuffles.
struct RowFactors {
  static POLYKEM_INLINE Twiddle forward(size_t layer, size_t block) { return at((1u << layer) + block); }
  /// Returns a factor of the inverse: Algorithm 10 takes the factors of a layer in reverse.
  static POLYKEM_INLINE Twiddle inverse(size_t layer, size_t block) { return at((2u << layer) - 1 - block); }

 private:
  static POLYKEM_INLINE Twiddle at(size_t i) {
    const StoredTwiddle* factors = kForwardFactors.data();
    asm("" : "+r"(factors));
    return Twiddle::of(factors[i]);
  }
};

/// Computes kLayers layers of the transform, the first of which is layer number kFirst, on kRows = 2^n rows.
template <size_t kRows, size_t kFirst, size_t kLayers, class Factors = RowFactors>
POLYKEM_INLINE void forward_pass(uint16_t* rows) {
  constexpr size_t kCount = 1 << kLayers, kStride = kRows >> (kFirst + kLayers);
  for (size_t block = 0; block < 1u << kFirst; ++block) {
    Twiddle zetas[kCount];
    unroll<kLayers>([&](auto t) __attribute__((always_inline)) {
      unroll<1u << t>([&](auto p) __attribute__((always_inline)) {
        zetas[(1 << t) + p] = Factors::forward(kFirst + t, (block << t) + p);
      });
    });
    uint16_t* base = rows + block * kCount * kStride * V16::kLanes;
    for (size_t j = 0; j < kStride; ++j, base += V16::kLanes) {
      V16 v[kCount];
      unroll<kCount>([&](auto i)
                         __attribute__((always_inline)) { v[i] = V16::load(base + i * kStride * V16::kLanes); });
      unroll<kLayers>([&](auto t) __attribute__((always_inline)) {
        constexpr size_t kHalf = kCount >> (t + 1);
        unroll<kCount / 2>([&](auto i) __attribute__((always_inline)) {
          constexpr size_t kBlock = i / kHalf, kAt = kBlock * 2 * kHalf + i % kHalf;
          butterfly(v[kAt], v[kAt + kHalf], zetas[(1 << t) + kBlock]);
        });
      });
      unroll<kCount>([&](auto i) __attribute__((always_inline)) { v[i].store(base + i * kStride * V16::kLanes); });
    }
  }
}

/// Undoes forward_pass() up to factors. Inputs are within kBound. finish(i, x) returns the value to store for row i of
/// a group; x is within inverse_bound(kBound, kLayers), or within q if the highest bit of i is set.
template <size_t kRows, size_t kFirst, size_t kLayers, class Factors = RowFactors, class Finish>
POLYKEM_INLINE void inverse_pass(uint16_t* rows, Finish&& finish) {
  constexpr size_t kCount = 1 << kLayers, kStride = kRows >> (kFirst + kLayers);
  constexpr int kBound = kLayers <= 2 ? kProductBound : int{kQ};
  static_assert(inverse_bound(kBound, kLayers) <= kWordBound);
  for (size_t block = 0; block < 1u << kFirst; ++block) {
    Twiddle zetas[kCount];
    unroll<kLayers>([&](auto t) __attribute__((always_inline)) {
      unroll<1u << t>([&](auto p) __attribute__((always_inline)) {
        zetas[(1 << t) + p] = Factors::inverse(kFirst + t, (block << t) + p);
      });
    });
    uint16_t* base = rows + block * kCount * kStride * V16::kLanes;
    for (size_t j = 0; j < kStride; ++j, base += V16::kLanes) {
      V16 v[kCount];
      unroll<kCount>([&](auto i)
                         __attribute__((always_inline)) { v[i] = V16::load(base + i * kStride * V16::kLanes); });
      for (const V16& x : v)
        POLYKEM_ASSERT_WITHIN(x, kBound);
      unroll<kLayers>([&](auto up) __attribute__((always_inline)) {
        constexpr size_t kLayer = kLayers - 1 - up, kHalf = kCount >> (kLayer + 1);
        unroll<kCount / 2>([&](auto i) __attribute__((always_inline)) {
          constexpr size_t kBlock = i / kHalf, kAt = kBlock * 2 * kHalf + i % kHalf;
          inverse_butterfly(v[kAt], v[kAt + kHalf], zetas[(1 << kLayer) + kBlock]);
        });
      });
      unroll<kCount>([&](auto i)
                         __attribute__((always_inline)) { finish(i, v[i]).store(base + i * kStride * V16::kLanes); });
    }
  }
}

/// The `finish` of inverse_pass() that reduces rows 0 .. kCount - 1 of a group.
template <size_t kCount>
struct ReduceFirst {
  template <class Index>
  POLYKEM_INLINE V16 operator()(Index, V16 x) const {
    if constexpr (Index::value < kCount) {
      return barrett(x);
    } else {
      return x;
    }
  }
};

inline constexpr StoredTwiddle kInverseScale = StoredTwiddle::of(kInverse128 * kR);

/// The factors of the inverse, with kInverseScale in those of the last layer.
struct ScaledFactors {
  static POLYKEM_INLINE Twiddle inverse(size_t layer, size_t block) {
    return layer == 0 ? Twiddle::of(StoredTwiddle::of(kInverse128 * kR % kQ * kZetas[1]))
                      : RowFactors::inverse(layer, block);
  }
};

/// Computes NttFunctions::forward: words are within q before and within kTransformBound after.
inline void forward_interleaved(uint16_t* polys) {
  forward_pass<kN, 0, 3>(polys);
  forward_pass<kN, 3, 2>(polys);
  forward_pass<kN, 5, 2>(polys);
}

/// Computes NttFunctions::inverse: words are within kProductBound before and within q after.
inline void inverse_interleaved(uint16_t* polys) {
  inverse_pass<kN, 5, 2>(polys, ReduceFirst<1>());
  inverse_pass<kN, 3, 2>(polys, ReduceFirst<2>());
  const Twiddle scale = Twiddle::of(kInverseScale);
  inverse_pass<kN, 0, 3, ScaledFactors>(
      polys, [&](auto i, V16 x) __attribute__((always_inline)) {
        if constexpr (decltype(i)::value < 4) {
          return mul(x, scale);
        } else {
          return x;  // ScaledFactors did it
        }
      });
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::ntt
