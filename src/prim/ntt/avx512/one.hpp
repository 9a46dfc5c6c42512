// SPDX-License-Identifier: Apache-2.0
// The transform of a single polynomial in eight registers of 32 words. Three layers combine registers, three do so
// after words have been transposed in fours, and the last one combines neighbouring pairs.
#pragma once

#include "prim/ntt/lanes/one_products.hpp"
#include "prim/ntt/lanes/transform.hpp"
#include "prim/simd/vec64.hpp"

namespace polykem::ntt {
inline namespace POLYKEM_ISA {

inline constexpr size_t kOneRegisters = kN / V16::kLanes, kFour = 4;
static_assert(kOneRegisters == 8 && V16::kLanes / kFour == 8);

/// Factors of layers 3 to 5, when register e holds words 4 e to 4 e + 3 of each 32: layer 3 + t has 2^t from number 2^t
/// on, each for a block of registers. The factors of layer 6 follow, one for each pair of registers.
template <bool kReversed>
inline constexpr auto kTurnedFactors = [] {
  std::array<OneFactors, 12> result{};
  const auto factor = [](size_t layer, size_t block) {
    return kForwardFactors[kReversed ? (size_t{2} << layer) - 1 - block : (size_t{1} << layer) + block];
  };
  for (size_t lane = 0; lane < V16::kLanes; ++lane) {
    const size_t row = lane / kFour;
    for (size_t t = 0; t < 3; ++t) {
      for (size_t block = 0; block < size_t{1} << t; ++block)
        result[(size_t{1} << t) + block].set(lane, factor(3 + t, (row << t) + block));
    }
    // A 128-bit part then holds a pair of words of two rows of the first register, and of the second.
    const size_t pair = lane % 8 / 2, of_row = lane / 8 * 2 + pair % 2;
    for (size_t m = 0; m < 4; ++m)
      result[8 + m].set(lane, factor(6, 8 * of_row + 2 * m + pair / 2));
  }
  return result;
}();

/// Word f of register e's four r becomes word f of register r's four e. It is its own inverse.
POLYKEM_INLINE void transpose_fours(V16 (&v)[kOneRegisters]) {
  simd::V64 w[kOneRegisters];
  for (size_t i = 0; i < kOneRegisters; ++i)
    w[i].r = v[i].r;
  simd::transpose_words(w);
  for (size_t i = 0; i < kOneRegisters; ++i)
    v[i].r = w[i].r;
}

/// Even and odd pairs of words of two registers, and back.
POLYKEM_INLINE void split_pairs(V16& x, V16& y) {
  const __m512 a = _mm512_castsi512_ps(x.r), b = _mm512_castsi512_ps(y.r);
  x.r = _mm512_castps_si512(_mm512_shuffle_ps(a, b, 0x88));
  y.r = _mm512_castps_si512(_mm512_shuffle_ps(a, b, 0xdd));
}
POLYKEM_INLINE void join_pairs(V16& x, V16& y) {
  const V16 a = x, b = y;
  x.r = _mm512_unpacklo_epi32(a.r, b.r);
  y.r = _mm512_unpackhi_epi32(a.r, b.r);
}

/// Calls f(a, b, zeta) for the pairs of registers that layer kLayer of three combines; factors(kLayer, block) is zeta.
template <size_t kLayer, class Factors, class F>
POLYKEM_INLINE void each_pair(V16 (&v)[kOneRegisters], Factors&& factors, F&& f) {
  constexpr size_t kHalf = kOneRegisters >> (kLayer + 1);
  unroll<(1u << kLayer)>([&](auto block) __attribute__((always_inline)) {
    const Twiddle zeta = factors(kLayer, block);
    unroll<kHalf>([&](auto i) __attribute__((always_inline)) {
      f(v[block * 2 * kHalf + i], v[block * 2 * kHalf + i + kHalf], zeta);
    });
  });
}

/// Coefficients within q before, within 8 q after. [FIPS203, Alg 9]
POLYKEM_INLINE void forward_in_registers(V16 (&v)[kOneRegisters]) {
  const auto rows = [](size_t layer, size_t block) __attribute__((always_inline)) {
    return RowFactors::forward(layer, block);
  };
  const auto turned = [](size_t layer, size_t block) __attribute__((always_inline)) {
    return kTurnedFactors<false>[(size_t{1} << layer) + block].load();
  };
  const auto forward = [](V16 & a, V16 & b, const Twiddle& zeta) __attribute__((always_inline)) {
    butterfly(a, b, zeta);
  };
  unroll<3>([&](auto t) __attribute__((always_inline)) { each_pair<t>(v, rows, forward); });
  transpose_fours(v);
  unroll<3>([&](auto t) __attribute__((always_inline)) { each_pair<t>(v, turned, forward); });
  unroll<4>([&](auto m) __attribute__((always_inline)) {
    split_pairs(v[2 * m], v[2 * m + 1]);
    butterfly(v[2 * m], v[2 * m + 1], kTurnedFactors<false>[8 + m].load());
    join_pairs(v[2 * m], v[2 * m + 1]);
  });
  transpose_fours(v);
}

/// Undoes forward_in_registers up to the factor 128. Sums are reduced where they would leave 16 bits: results within 8
/// q.
POLYKEM_INLINE void inverse_in_registers(V16 (&v)[kOneRegisters]) {
  const auto rows = [](size_t layer, size_t block) __attribute__((always_inline)) {
    return RowFactors::inverse(layer, block);
  };
  const auto turned = [](size_t layer, size_t block) __attribute__((always_inline)) {
    return kTurnedFactors<true>[(size_t{1} << layer) + block].load();
  };
  const auto inverse = [](V16 & a, V16 & b, const Twiddle& zeta) __attribute__((always_inline)) {
    inverse_butterfly(a, b, zeta);
  };
  transpose_fours(v);
  unroll<4>([&](auto m) __attribute__((always_inline)) {
    split_pairs(v[2 * m], v[2 * m + 1]);
    inverse_butterfly(v[2 * m], v[2 * m + 1], kTurnedFactors<true>[8 + m].load());
    join_pairs(v[2 * m], v[2 * m + 1]);
  });
  each_pair<2>(v, turned, inverse);
  each_pair<1>(v, turned, inverse);
  v[0] = barrett(v[0]);  // sums of all three layers, within 8 q; of the others, none exceeds 2 q
  v[4] = barrett(v[4]);
  each_pair<0>(v, turned, inverse);
  for (size_t e = 0; e < 4; ++e)
    v[e] = barrett(v[e]);
  transpose_fours(v);
  each_pair<2>(v, rows, inverse);
  each_pair<1>(v, rows, inverse);
  each_pair<0>(v, rows, inverse);
}

/// See NttOne.
POLYKEM_NOINLINE inline void forward_one(uint16_t* a) {
  V16 v[kOneRegisters];
  unroll<kOneRegisters>([&](auto i) __attribute__((always_inline)) { v[i] = V16::load(a + i * V16::kLanes); });
  forward_in_registers(v);
  unroll<kOneRegisters>([&](auto i)
                            __attribute__((always_inline)) { positive(barrett(v[i])).store(a + i * V16::kLanes); });
}

/// See NttOne.
POLYKEM_NOINLINE inline void inverse_one(uint16_t* a) {
  V16 v[kOneRegisters];
  unroll<kOneRegisters>([&](auto i) __attribute__((always_inline)) { v[i] = V16::load(a + i * V16::kLanes); });
  inverse_in_registers(v);
  const Twiddle scale = Twiddle::of(Factor::of(kInverse128));
  unroll<kOneRegisters>([&](auto i)
                            __attribute__((always_inline)) { positive(mul(v[i], scale)).store(a + i * V16::kLanes); });
}

/// See ntt::multiply.
inline void multiply_one(uint16_t* c, const uint16_t* a, const uint16_t* b, size_t terms) {
  if (terms == 1) return multiply_one_rows<1>(c, a, b, 1);
  if (terms == 2) return multiply_one_rows<2>(c, a, b, 1);
  if (terms == 3) return multiply_one_rows<3>(c, a, b, 1);
  multiply_one_rows<4>(c, a, b, 1);
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::ntt
