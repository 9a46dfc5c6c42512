// SPDX-License-Identifier: Apache-2.0
// Samples polynomials with small coefficients from random bytes and transforms them. A coefficient has one of few
// values, so its product with a factor of the first two layers is looked up, or is small enough not to be reduced.
#pragma once

#include <algorithm>

#include "core/unroll.hpp"
#include "prim/ntt/avx512/single.hpp"
#include "prim/ntt/lanes/single_records.hpp"
#include "schemes/mlkem/binomial.hpp"
#include "schemes/mlkem/params.hpp"

namespace polykem::mlkem::x8 {
inline namespace POLYKEM_ISA {

using ntt::centred, ntt::in_twos, ntt::InRegisters, ntt::kZetas, ntt::ShuffleTable, ntt::unpack_fields;
using simd::V16;

/// The factors by which layers 0 and 1 multiply coefficients i, i + 64, i + 128 and i + 192, times kScale. The second
/// and the last coefficient go into two sums each; the last two factors are those for their second sum.
template <uint32_t kScale>
inline constexpr uint32_t kNoiseFactors[6] = {kScale,
                                              kScale* kZetas[2] % kQ,
                                              kScale* kZetas[1] % kQ,
                                              kScale* kZetas[2] % kQ* kZetas[1] % kQ,
                                              kScale* kZetas[3] % kQ,
                                              kScale* kZetas[3] % kQ* kZetas[1] % kQ};

/// Returns the absolute value of the representative of x in (-q/2, q/2).
constexpr int size_mod_q(uint32_t x) {
  return static_cast<int>(std::min(x % kQ, kQ - x % kQ));
}

template <unsigned kEta>
struct Noise;

/// A table indexed by four bits: kMore plus the product of kFactor and the difference of the sums of two bits each, mod
/// q, centred.
template <uint32_t kFactor, uint32_t kMore = 0>
inline constexpr auto kNoiseProducts = [] {
  ShuffleTable<V16::kLanes, uint16_t> table;
  for (unsigned i = 0; i < V16::kLanes; ++i) {
    const uint16_t product = centred(static_cast<uint32_t>(binomial<2>(i % 16) + static_cast<int>(kQ)) * kFactor);
    table.at[i] = static_cast<uint16_t>(product + kMore);
  }
  return table;
}();

/// Coefficients for eta = 2. A permutation of a register looks up their products by the lowest five bits of a word, of
/// which the fifth makes no difference.
template <>
struct Noise<2> {
  V16 bits;
  /// Returns the largest absolute value of a product with `factor`.
  static constexpr int largest(uint32_t factor) { return std::max(size_mod_q(factor), size_mod_q(2 * factor)); }
  /// Loads coefficients i to i + V16::kLanes - 1 from a row of 128 bytes.
  static POLYKEM_INLINE Noise load(const uint8_t* row, size_t i) { return {unpack_fields<4>(row, i)}; }
  template <uint32_t kFactor, uint32_t kMore = 0>
  POLYKEM_INLINE V16 times() const {
    return {_mm512_permutexvar_epi16(bits.r, V16::load(kNoiseProducts<kFactor, kMore>.at).r)};
  }
};

/// Coefficients for eta = 3. A permutation of bytes looks up the difference of the sums of three bits each, whose
/// product with a factor is below 2^15 in absolute value.
template <>
struct Noise<3> {
  static constexpr auto kDifferencesPlus3 = [] {
    std::array<int8_t, 64> table{};
    for (unsigned i = 0; i < table.size(); ++i)
      table[i] = static_cast<int8_t>(binomial<3>(i) + 3);
    return table;
  }();
  V16 value;
  static constexpr int largest(uint32_t factor) { return 3 * size_mod_q(factor); }

  static POLYKEM_INLINE Noise load(const uint8_t* row, size_t i) {
    const __m512i table = _mm512_loadu_si512(kDifferencesPlus3.data());
    constexpr __mmask64 kLowBytes = 0x5555555555555555;
    return {V16{_mm512_maskz_permutexvar_epi8(kLowBytes, unpack_fields<6>(row, i).r, table)} - V16::set1(3)};
  }
  template <uint32_t kFactor>
  POLYKEM_INLINE V16 times() const {
    if constexpr (kFactor == 1) return value;
    return value * V16::set1(centred(kFactor));
  }
};

/// Returns kMore plus coefficients i to i + V16::kLanes - 1 of a row of 128 bytes. The coefficients are in [-2, 2].
template <uint32_t kMore>
POLYKEM_INLINE V16 noise_single(const uint8_t* row, size_t i) {
  return Noise<2>::load(row, i).times<1, kMore>();
}

/// The bound of words after layers 0 and 1, times kScale. They are sums of four products.
template <unsigned kEta, uint32_t kScale>
inline constexpr int kNoiseSumBound = [] {
  const auto largest = [](size_t i) { return Noise<kEta>::largest(kNoiseFactors<kScale>[i]); };
  return largest(0) + largest(2) + std::max(largest(1) + largest(3), largest(4) + largest(5)) + 1;
}();
/// The bound of words after all layers, times kScale.
template <unsigned kEta, uint32_t kScale>
inline constexpr int kNoiseTransformBound = ntt::forward_bound(kNoiseSumBound<kEta, kScale>, 5);

/// Samples kCount polynomials from rows of random bytes and computes layers 0 and 1 of their transforms, times kScale.
/// Words are within kNoiseSumBound afterwards.
template <unsigned kEta, uint32_t kScale, size_t kCount>
POLYKEM_INLINE void begin_forward(InRegisters<kCount>& a, const uint8_t* rows, size_t stride) {
  constexpr auto& kFactors = kNoiseFactors<kScale>;
  unroll<2>([&](auto i) __attribute__((always_inline)) {
    unroll<kCount>([&](auto p) __attribute__((always_inline)) {
      const auto at = [&](size_t quarter) __attribute__((always_inline)) {
        return Noise<kEta>::load(rows + p * stride, quarter * kN / 4 + i * V16::kLanes);
      };
      const auto first = at(0), second = at(1), third = at(2), fourth = at(3);
      const V16 x = first.template times<kFactors[0]>(), y = third.template times<kFactors[2]>();
      const V16 sum = x + y, difference = x - y;
      const V16 to_sum = second.template times<kFactors[1]>() + fourth.template times<kFactors[3]>();
      const V16 to_difference = second.template times<kFactors[4]>() - fourth.template times<kFactors[5]>();
      a.v[p][i] = sum + to_sum;
      a.v[p][i + 2] = sum - to_sum;
      a.v[p][i + 4] = difference + to_difference;
      a.v[p][i + 6] = difference - to_difference;
    });
  });
}

/// Samples `count` polynomials, polynomial i from the 64 kEta bytes at rows + i * stride, and stores kScale times their
/// transforms. Words are within kNoiseTransformBound before Finish is applied to them. [FIPS203, Alg 8 and 9]
template <unsigned kEta, class Finish, uint32_t kScale = 1>
POLYKEM_NOINLINE void forward_noise(uint16_t* a, const uint8_t* rows, size_t stride, size_t count) {
  static_assert(kNoiseTransformBound<kEta, kScale> <= ntt::kWordBound);
  in_twos(
      count, [&]<size_t kCount>(size_t i) __attribute__((always_inline)) {
        InRegisters<kCount> polys;
        begin_forward<kEta, kScale>(polys, rows + i * stride, stride);
        polys.each([](size_t, size_t, V16 & x)
                       __attribute__((always_inline)) { POLYKEM_ASSERT_WITHIN(x, (kNoiseSumBound<kEta, kScale>)); });
        forward_in_registers<2>(polys);
        polys.store(
            a + i * kN, [](V16 x) __attribute__((always_inline)) {
              POLYKEM_ASSERT_WITHIN(x, (kNoiseTransformBound<kEta, kScale>));
              return Finish()(x);
            });
      });
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::mlkem::x8
