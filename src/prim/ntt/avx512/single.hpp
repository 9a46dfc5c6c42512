// SPDX-License-Identifier: Apache-2.0
// Transforms of polynomials in eight registers of 32 words each. Three layers combine registers, three do so after
// words have been transposed in fours, and the last one combines neighbouring pairs. Two polynomials
// are computed together, because one alone is bound by the latency of its instructions.
#pragma once

#include "core/unroll.hpp"
#include "prim/ntt/lanes/single_products.hpp"
#include "prim/ntt/lanes/transform.hpp"
#include "prim/simd/vec64.hpp"

namespace polykem::ntt {
inline namespace POLYKEM_ISA {

inline constexpr size_t kSingleRegisters = kN / V16::kLanes, kFour = 4;
static_assert(kSingleRegisters == 8 && V16::kLanes / kFour == 8);

/// The coefficients of kCount polynomials, in registers.
template <size_t kCount>
struct InRegisters {
  V16 v[kCount][kSingleRegisters];

  static POLYKEM_INLINE InRegisters load(const uint16_t* a) {
    InRegisters result;
    result.each([&](size_t p, size_t i, V16 & x)
                    __attribute__((always_inline)) { x = V16::load(a + p * kN + i * V16::kLanes); });
    return result;
  }
  /// Stores f(x) for every register x.
  template <class F>
  POLYKEM_INLINE void store(uint16_t* a, F&& f) {
    each([&](size_t p, size_t i, V16 & x) __attribute__((always_inline)) { f(x).store(a + p * kN + i * V16::kLanes); });
  }
  /// Calls f(polynomial, register's number, register).
  template <class F>
  POLYKEM_INLINE void each(F&& f) {
    unroll<kCount>([&](auto p) __attribute__((always_inline)) {
      unroll<kSingleRegisters>([&](auto i) __attribute__((always_inline)) { f(p, i, v[p][i]); });
    });
  }
};

/// The factors of layers 3 to 5, in which register e holds words 4 e to 4 e + 3 of each 32. Layer 3 + t has the 2^t
/// factors from number 2^t on, each for a block of registers. The factors of layer 6 follow, one for each pair of
/// registers.
template <bool kReversed>
inline constexpr auto kTransposedFactors = [] {
  std::array<SingleFactors, 12> result{};
  const auto factor = [](size_t layer, size_t block) {
    return kForwardFactors[kReversed ? (size_t{2} << layer) - 1 - block : (size_t{1} << layer) + block];
  };
  for (size_t lane = 0; lane < V16::kLanes; ++lane) {
    const size_t row = lane / kFour;
    for (size_t t = 0; t < 3; ++t) {
      for (size_t block = 0; block < size_t{1} << t; ++block)
        result[(size_t{1} << t) + block].set(lane, factor(3 + t, (row << t) + block));
    }
    // In layer 6 a 128-bit part holds a pair of words of each of two rows, first those of one register, then those of
    // the other.
    const size_t pair = lane % 8 / 2, of_row = lane / 8 * 2 + pair % 2;
    for (size_t m = 0; m < 4; ++m)
      result[8 + m].set(lane, factor(6, 8 * of_row + 2 * m + pair / 2));
  }
  return result;
}();

/// Returns the factor of a block of registers in layer 0, 1 or 2.
template <bool kReversed>
POLYKEM_INLINE Twiddle row_factor(size_t layer, size_t block) {
  return kReversed ? RowFactors::inverse(layer, block) : RowFactors::forward(layer, block);
}
/// Returns the factor of a block of registers in layer 3 + `layer`.
template <bool kReversed>
POLYKEM_INLINE Twiddle transposed_factor(size_t layer, size_t block) {
  return kTransposedFactors<kReversed>[(size_t{1} << layer) + block].load();
}

/// Transposes fours: word f of register e's four r becomes word f of register r's four e. The function is its own
/// inverse.
POLYKEM_INLINE void transpose_fours(V16 (&v)[kSingleRegisters]) {
  simd::V64 w[kSingleRegisters];
  for (size_t i = 0; i < kSingleRegisters; ++i)
    w[i].r = v[i].r;
  simd::transpose_words(w);
  for (size_t i = 0; i < kSingleRegisters; ++i)
    v[i].r = w[i].r;
}
template <size_t kCount>
POLYKEM_INLINE void transpose_fours(InRegisters<kCount>& a) {
  unroll<kCount>([&](auto p) __attribute__((always_inline)) { transpose_fours(a.v[p]); });
}

/// Gathers the even pairs of words of two registers in x, and the odd ones in y.
POLYKEM_INLINE void split_pairs(V16& x, V16& y) {
  const __m512 a = _mm512_castsi512_ps(x.r), b = _mm512_castsi512_ps(y.r);
  x.r = _mm512_castps_si512(_mm512_shuffle_ps(a, b, 0x88));
  y.r = _mm512_castps_si512(_mm512_shuffle_ps(a, b, 0xdd));
}
/// Undoes split_pairs().
POLYKEM_INLINE void join_pairs(V16& x, V16& y) {
  const V16 a = x, b = y;
  x.r = _mm512_unpacklo_epi32(a.r, b.r);
  y.r = _mm512_unpackhi_epi32(a.r, b.r);
}

/// Calls f(a, b, zeta) for the pairs of registers that layer kLayer of three combines; factors(kLayer, block) returns
/// zeta.
template <size_t kLayer, size_t kCount, class Factors, class F>
POLYKEM_INLINE void each_pair(InRegisters<kCount>& a, Factors&& factors, F&& f) {
  constexpr size_t kHalf = kSingleRegisters >> (kLayer + 1);
  unroll<(1u << kLayer)>([&](auto block) __attribute__((always_inline)) {
    const Twiddle zeta = factors(kLayer, block);
    unroll<kHalf>([&](auto i) __attribute__((always_inline)) {
      unroll<kCount>([&](auto p) __attribute__((always_inline)) {
        f(a.v[p][block * 2 * kHalf + i], a.v[p][block * 2 * kHalf + i + kHalf], zeta);
      });
    });
  });
}

/// Calls f(a, b, zeta) for the neighbouring pairs that layer 6 combines, while fours are transposed.
template <bool kReversed, size_t kCount, class F>
POLYKEM_INLINE void each_last_pair(InRegisters<kCount>& a, F&& f) {
  unroll<kSingleRegisters / 2>([&](auto m) __attribute__((always_inline)) {
    const Twiddle zeta = kTransposedFactors<kReversed>[8 + m].load();
    unroll<kCount>([&](auto p) __attribute__((always_inline)) {
      V16 &x = a.v[p][2 * m], &y = a.v[p][2 * m + 1];
      split_pairs(x, y);
      f(x, y, zeta);
      join_pairs(x, y);
    });
  });
}

/// Computes layers kFirst <= 2 to 6 of the transform. Coefficients are within b before, and within
/// forward_bound(b, 7 - kFirst) <= kWordBound afterwards. [FIPS203, Alg 9]
template <size_t kFirst, size_t kCount>
POLYKEM_INLINE void forward_in_registers(InRegisters<kCount>& a) {
  const auto f = [](V16 & x, V16 & y, const Twiddle& zeta) __attribute__((always_inline)) {
    butterfly(x, y, zeta);
  };
  unroll<3 - kFirst>([&](auto t) __attribute__((always_inline)) { each_pair<kFirst + t>(a, row_factor<false>, f); });
  transpose_fours(a);
  unroll<3>([&](auto t) __attribute__((always_inline)) { each_pair<t>(a, transposed_factor<false>, f); });
  each_last_pair<false>(a, f);
  transpose_fours(a);
}

/// Undoes forward_in_registers() and multiplies by kScale. Coefficients are within q before, and in (-q, q) afterwards:
/// sums are reduced where they would leave 16 bits, and the last layer's factors include the scale.
template <uint32_t kScale, size_t kCount>
POLYKEM_INLINE void inverse_in_registers(InRegisters<kCount>& a) {
  const auto f = [](V16 & x, V16 & y, const Twiddle& zeta) __attribute__((always_inline)) {
    inverse_butterfly(x, y, zeta);
  };
  const auto reduce = [&](auto... i) __attribute__((always_inline)) {
    unroll<kCount>([&](auto p) __attribute__((always_inline)) { ((a.v[p][i] = barrett(a.v[p][i])), ...); });
  };
  transpose_fours(a);
  each_last_pair<true>(a, f);
  each_pair<2>(a, transposed_factor<true>, f);
  each_pair<1>(a, transposed_factor<true>, f);
  reduce(0, 4);  // sums of all three layers, within inverse_bound(kQ, 3); the others are within inverse_bound(kQ, 1)
  each_pair<0>(a, transposed_factor<true>, f);
  reduce(0, 1, 2, 3);
  transpose_fours(a);
  each_pair<2>(a, row_factor<true>, f);
  each_pair<1>(a, row_factor<true>, f);
  constexpr uint32_t kSums = kInverse128 * kScale % kQ;
  const Twiddle of_sums = Twiddle::of(StoredTwiddle::of(kSums));
  each_pair<0>(
      a, [](size_t, size_t) { return Twiddle::of(StoredTwiddle::of(kSums * kZetas[1])); },
      [&](V16 & x, V16 & y, const Twiddle& zeta) __attribute__((always_inline)) {
        inverse_butterfly(x, y, zeta);
        x = mul(x, of_sums);
      });
}

/// Leaves the results of a transform as they are.
struct Unreduced {
  POLYKEM_INLINE V16 operator()(V16 x) const { return x; }
};
struct Reduced {  ///< reduces the results to (-q, q)
  POLYKEM_INLINE V16 operator()(V16 x) const { return barrett(x); }
};
/// Reduces the results of a transform to [0, q).
struct Canonical {
  POLYKEM_INLINE V16 operator()(V16 x) const { return to_unsigned(barrett(x)); }
};

/// Calls f.template operator()<n>(i) for every n = 2 polynomials, and for a last one with n = 1; the first of them is
/// number i.
template <class F>
POLYKEM_INLINE void in_twos(size_t count, F&& f) {
  size_t i = 0;
  for (; i + 2 <= count; i += 2)
    f.template operator()<2>(i);
  if (i < count) f.template operator()<1>(i);
}

/// Transforms `count` polynomials in place; coefficients are within q before. [FIPS203, Alg 9]
template <class Finish>
POLYKEM_NOINLINE void forward_polys(uint16_t* a, size_t count) {
  in_twos(
      count, [&]<size_t kCount>(size_t i) __attribute__((always_inline)) {
        auto polys = InRegisters<kCount>::load(a + i * kN);
        forward_in_registers<0>(polys);
        polys.store(a + i * kN, Finish());
      });
}

/// Computes kScale times the inverse of `count` transforms in place; coefficients are in (-q, q) before and afterwards.
/// Calls use(i) when polynomial i < count is ready. [FIPS203, Alg 10]
template <uint32_t kScale, class Use>
POLYKEM_INLINE void each_inverse(uint16_t* a, size_t count, Use&& use) {
  in_twos(
      count, [&]<size_t kCount>(size_t i) __attribute__((always_inline)) {
        auto polys = InRegisters<kCount>::load(a + i * kN);
        inverse_in_registers<kScale>(polys);
        polys.store(a + i * kN, Unreduced());
        for (size_t p = 0; p < kCount; ++p)
          use(i + p);
      });
}

/// Computes SingleNttFunctions::forward.
inline void forward_single(uint16_t* a) {
  forward_polys<Canonical>(a, 1);
}
/// Computes SingleNttFunctions::inverse.
inline void inverse_single(uint16_t* a) {
  auto poly = InRegisters<1>::load(a);
  inverse_in_registers<1>(poly);
  poly.store(
      a, [](V16 x) __attribute__((always_inline)) { return to_unsigned(x); });
}

/// Computes SingleNttFunctions::multiply.
inline void multiply_single(uint16_t* c, const uint16_t* a, const uint16_t* b, size_t terms) {
  if (terms == 1) return multiply_single_rows<1, 1>(c, a, b);
  if (terms == 2) return multiply_single_rows<2, 1>(c, a, b);
  if (terms == 3) return multiply_single_rows<3, 1>(c, a, b);
  multiply_single_rows<4, 1>(c, a, b);
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::ntt
