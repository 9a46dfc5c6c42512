// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include "ckks/src/rows/lanes/ntt.hpp"
#include "ckks/src/rows/lanes/products.hpp"
#include "ckks/src/rows/lanes/words.hpp"
#include "ckks/src/rows/rows.hpp"

namespace polykem::ckks {
inline namespace POLYKEM_ISA {
namespace {

/// Four words.
struct Lanes256 {
  using V = __m256i;
  static constexpr size_t kCount = 4, kLayers = 2;

  POLYKEM_INLINE static V load(const uint64_t* a) { return _mm256_loadu_si256(reinterpret_cast<const V*>(a)); }
  POLYKEM_INLINE static void store(uint64_t* a, V x) { _mm256_storeu_si256(reinterpret_cast<V*>(a), x); }
  POLYKEM_INLINE static V all(uint64_t x) { return _mm256_set1_epi64x(static_cast<long long>(x)); }
  POLYKEM_INLINE static V add(V a, V b) { return _mm256_add_epi64(a, b); }
  POLYKEM_INLINE static V sub(V a, V b) { return _mm256_sub_epi64(a, b); }
  /// Returns a - m if that is not negative, else a. Range in: m at most 2^63, a below 2m.
  POLYKEM_INLINE static V reduce(V a, V m) {
    const V less = _mm256_sub_epi64(a, m);
    return _mm256_castpd_si256(
        _mm256_blendv_pd(_mm256_castsi256_pd(less), _mm256_castsi256_pd(a), _mm256_castsi256_pd(less)));
  }
  /// Returns `then` where a > b, else 0. Range in: [0, 2^63).
  POLYKEM_INLINE static V if_greater(V a, V b, V then) { return _mm256_and_si256(_mm256_cmpgt_epi64(a, b), then); }
  using Order = V;
  /// Returns the order in which word i comes from place i, by halves of words.
  POLYKEM_INLINE static Order order(const uint64_t places[4]) {
    const V twice = _mm256_slli_epi64(load(places), 1);
    return _mm256_or_si256(twice, _mm256_slli_epi64(_mm256_add_epi64(twice, all(1)), 32));
  }
  POLYKEM_INLINE static V permuted(V a, Order order) { return _mm256_permutevar8x32_epi32(a, order); }

  /// Collects the lower and the upper halves of groups in x and y, which have been gathered for the layers before: the
  /// groups of layer k have 4 >> k words.
  template <size_t kLayer>
  POLYKEM_INLINE static void gather(V& x, V& y) {
    const V a = x, b = y;
    if constexpr (kLayer == 0) {
      x = _mm256_permute2x128_si256(a, b, 0x20);
      y = _mm256_permute2x128_si256(a, b, 0x31);
    } else {
      x = _mm256_unpacklo_epi64(a, b);
      y = _mm256_unpackhi_epi64(a, b);
    }
  }
  /// The inverse of gather(), which is its own.
  template <size_t kLayer>
  POLYKEM_INLINE static void scatter(V& x, V& y) {
    gather<kLayer>(x, y);
  }
  /// Returns 2 << k words, each as often as a layer needs it, in the order of gathered groups.
  template <size_t kLayer>
  POLYKEM_INLINE static V spread(const uint64_t* a) {
    if constexpr (kLayer == 0) {
      const __m128i pair = _mm_loadu_si128(reinterpret_cast<const __m128i*>(a));
      return _mm256_permute4x64_epi64(_mm256_castsi128_si256(pair), 0x50);
    } else {
      return load(a);
    }
  }
};

/// For every q below 2^61, products by factors of any words. Of the upper word of a product by the factor's quotient it
/// leaves out what the lower halves' product and both mixed products have below 2^64, so x w - h q is in [0, 4q), as in
/// tools/proofs.
class Arithmetic64 : public LazyWords<Lanes256, 4> {
 public:
  struct Root {
    __m256i value, value_swapped, low, high;  ///< low: the quotient, whose upper half products ignore
  };

  POLYKEM_INLINE explicit Arithmetic64(const Modulus& m) : LazyWords(m), q_swapped_(swapped(q_)) {}

  POLYKEM_INLINE Root root(const Factor& factor) const {
    return made(Lanes::all(factor.value), Lanes::all(factor.quotient));
  }
  template <size_t kLayer>
  POLYKEM_INLINE Root roots(const uint64_t* values, const uint64_t* quotients) const {
    return made(Lanes::spread<kLayer>(values), Lanes::spread<kLayer>(quotients));
  }
  /// Range out: [0, 4q). x is any word.
  POLYKEM_INLINE __m256i multiply(__m256i x, const Root& root) const {
    const __m256i upper = _mm256_srli_epi64(x, 32);
    const __m256i mixed = _mm256_add_epi64(_mm256_srli_epi64(_mm256_mul_epu32(upper, root.low), 32),
                                           _mm256_srli_epi64(_mm256_mul_epu32(x, root.high), 32));
    const __m256i h = _mm256_add_epi64(_mm256_mul_epu32(upper, root.high), mixed);
    const __m256i low = _mm256_sub_epi64(_mm256_mul_epu32(x, root.value), _mm256_mul_epu32(h, q_));
    const __m256i products =
        _mm256_sub_epi32(_mm256_mullo_epi32(x, root.value_swapped), _mm256_mullo_epi32(h, q_swapped_));
    const __m256i sum = _mm256_add_epi32(products, _mm256_slli_epi64(products, 32));
    return _mm256_add_epi64(low, _mm256_blend_epi32(_mm256_setzero_si256(), sum, 0xaa));
  }

 private:
  POLYKEM_INLINE static __m256i swapped(__m256i a) { return _mm256_shuffle_epi32(a, 0xb1); }
  POLYKEM_INLINE static Root made(__m256i value, __m256i quotient) {
    return {value, swapped(value), quotient, _mm256_srli_epi64(quotient, 32)};
  }

  __m256i q_swapped_;
};

/// For q below 3 * 2^49, in floating point. A word is an integer of either sign, as a double in the bits of a lane;
/// sums and differences are below 2^53 and exact. A product x w is taken modulo q by h, the integer nearest to
/// x (w / q). x w - h q is exact: fused operations give x w in two parts, and the upper part less h q is an integer
/// below 2^53. w / q is up to 2^-52 too small, so in any rounding mode h is off by at most 1/2 + |x| 2^-51, and the
/// product is below (1/2 + |x| 2^-51) q. With words below c q, forwards c is 1 + c q 2^-51, at most 4. Backwards
/// differences of two words are multiplied, so words stay below q if q is below 2^49; otherwise multiply() first
/// reduces them, if kReduce.
template <bool kReduce>
class FloatArithmetic {
 public:
  using Lanes = Lanes256;
  struct Root {
    __m256d value, ratio;  ///< ratio: value / q, rounded down to a multiple of 2^-52
  };

  POLYKEM_INLINE explicit FloatArithmetic(const Modulus& m)
      : q_(_mm256_set1_pd(static_cast<double>(m.value()))),
        inverse_q_(_mm256_set1_pd(1 / static_cast<double>(m.value()))) {}

  POLYKEM_INLINE Root root(const Factor& factor) const {
    return made(Lanes::all(factor.value), Lanes::all(factor.quotient));
  }
  template <size_t kLayer>
  POLYKEM_INLINE Root roots(const uint64_t* values, const uint64_t* quotients) const {
    return made(Lanes::spread<kLayer>(values), Lanes::spread<kLayer>(quotients));
  }
  POLYKEM_INLINE static __m256i enter(__m256i residue) { return bits(number(residue)); }
  POLYKEM_INLINE __m256i multiply(__m256i word, const Root& root) const {
    const __m256d x = value(kReduce ? reduce(word) : word);
    const __m256d upper = _mm256_mul_pd(x, root.value), lower = _mm256_fmsub_pd(x, root.value, upper);
    const __m256d h = nearest(_mm256_mul_pd(x, root.ratio));
    return bits(_mm256_add_pd(_mm256_fnmadd_pd(h, q_, upper), lower));
  }
  POLYKEM_INLINE static __m256i sum(__m256i a, __m256i b) { return bits(_mm256_add_pd(value(a), value(b))); }
  POLYKEM_INLINE static __m256i difference(__m256i a, __m256i b) { return bits(_mm256_sub_pd(value(a), value(b))); }
  /// Range out: at most (q + 1) / 2, of either sign.
  POLYKEM_INLINE __m256i reduce(__m256i word) const {
    const __m256d x = value(word);
    return bits(_mm256_fnmadd_pd(nearest(_mm256_mul_pd(x, inverse_q_)), q_, x));
  }
  /// Returns an integer in [0, q).
  POLYKEM_INLINE __m256i canonical(__m256i word) const {
    const __m256d x = value(reduce(word));
    const __m256d negative = _mm256_cmp_pd(x, _mm256_setzero_pd(), _CMP_LT_OQ);  // which -0 is not
    const __m256d positive = _mm256_add_pd(x, _mm256_and_pd(negative, q_));
    return _mm256_xor_si256(bits(_mm256_add_pd(positive, _mm256_set1_pd(0x1p52))), bits(_mm256_set1_pd(0x1p52)));
  }

 private:
  POLYKEM_INLINE static __m256d value(__m256i word) { return _mm256_castsi256_pd(word); }
  POLYKEM_INLINE static __m256i bits(__m256d number) { return _mm256_castpd_si256(number); }
  /// Returns an integer below 2^52 as a double.
  POLYKEM_INLINE static __m256d number(__m256i x) {
    return _mm256_sub_pd(value(_mm256_or_si256(x, bits(_mm256_set1_pd(0x1p52)))), _mm256_set1_pd(0x1p52));
  }
  POLYKEM_INLINE static __m256d nearest(__m256d x) {
    return _mm256_round_pd(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  }
  POLYKEM_INLINE static Root made(__m256i factor, __m256i quotient) {
    const __m256d one = _mm256_set1_pd(1);
    const __m256d ratio = value(_mm256_or_si256(_mm256_srli_epi64(quotient, 12), bits(one)));
    return {number(factor), _mm256_sub_pd(ratio, one)};
  }

  __m256d q_, inverse_q_;
};

constexpr uint64_t kMaxFloat = uint64_t{3} << 49, kMaxWithoutReduction = uint64_t{1} << 49;

void forward(const Modulus& m, const NttTables& tables, uint64_t* a) {
  if (m.value() < kMaxFloat) return Butterflies<FloatArithmetic<false>>(m, tables).forward(a);
  Butterflies<Arithmetic64>(m, tables).forward(a);
}

void inverse(const Modulus& m, const NttTables& tables, const LastLayer& last, const uint64_t* a, uint64_t* out) {
  if (m.value() < kMaxWithoutReduction) return Butterflies<FloatArithmetic<false>>(m, tables).inverse(last, a, out);
  if (m.value() < kMaxFloat) return Butterflies<FloatArithmetic<true>>(m, tables).inverse(last, a, out);
  Butterflies<Arithmetic64>(m, tables).inverse(last, a, out);
}

constexpr RowFunctions kRows{
    "avx2",
    forward,
    inverse,
    add_rows<Lanes256>,
    sub_rows<Lanes256>,
    sub_scale_rows<Arithmetic64>,
    multiply_words,
    combine_words,
    centre_row<Arithmetic64>,
    permute_row<Lanes256>,
};

}  // namespace
}  // namespace POLYKEM_ISA

const RowFunctions& rows_avx2() {
  return kRows;
}

}  // namespace polykem::ckks
