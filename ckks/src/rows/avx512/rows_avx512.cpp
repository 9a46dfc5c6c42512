// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include "ckks/src/rows/lanes/ntt.hpp"
#include "ckks/src/rows/lanes/products.hpp"
#include "ckks/src/rows/rows.hpp"

namespace polykem::ckks {
inline namespace POLYKEM_ISA {
namespace {

/// Eight words.
struct Lanes512 {
  using V = __m512i;
  static constexpr size_t kCount = 8, kLayers = 3;

  POLYKEM_INLINE static V load(const uint64_t* a) { return _mm512_loadu_si512(a); }
  POLYKEM_INLINE static void store(uint64_t* a, V x) { _mm512_storeu_si512(a, x); }
  POLYKEM_INLINE static V all(uint64_t x) { return _mm512_set1_epi64(static_cast<long long>(x)); }
  POLYKEM_INLINE static V add(V a, V b) { return _mm512_add_epi64(a, b); }
  POLYKEM_INLINE static V sub(V a, V b) { return _mm512_sub_epi64(a, b); }
  /// Returns a - m if that is not negative, else a.
  POLYKEM_INLINE static V reduce(V a, V m) { return _mm512_min_epu64(a, _mm512_sub_epi64(a, m)); }
  /// Returns `then` where a > b, else 0.
  POLYKEM_INLINE static V if_greater(V a, V b, V then) {
    return _mm512_maskz_mov_epi64(_mm512_cmpgt_epu64_mask(a, b), then);
  }
  using Order = V;
  /// Returns the order in which word i comes from place i.
  POLYKEM_INLINE static Order order(const uint64_t places[8]) { return load(places); }
  POLYKEM_INLINE static V permuted(V a, Order order) { return _mm512_permutexvar_epi64(order, a); }

  /// Collects the lower and the upper halves of groups in x and y, which have been gathered for the layers before: the
  /// groups of layer k have 8 >> k words.
  template <size_t kLayer>
  POLYKEM_INLINE static void gather(V& x, V& y) {
    const V a = x, b = y;
    if constexpr (kLayer == 0) {
      x = _mm512_shuffle_i64x2(a, b, 0x44);
      y = _mm512_shuffle_i64x2(a, b, 0xee);
    } else if constexpr (kLayer == 1) {
      x = _mm512_shuffle_i64x2(a, b, 0x88);
      y = _mm512_shuffle_i64x2(a, b, 0xdd);
    } else {
      x = _mm512_unpacklo_epi64(a, b);
      y = _mm512_unpackhi_epi64(a, b);
    }
  }
  /// The inverse of gather().
  template <size_t kLayer>
  POLYKEM_INLINE static void scatter(V& x, V& y) {
    if constexpr (kLayer == 1) {
      const V a = x, b = y;
      x = _mm512_permutex2var_epi64(a, _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11), b);
      y = _mm512_permutex2var_epi64(a, _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15), b);
    } else {
      gather<kLayer>(x, y);
    }
  }
  /// Returns 2 << k words, each as often as a layer needs it, in the order of gathered groups.
  template <size_t kLayer>
  POLYKEM_INLINE static V spread(const uint64_t* a) {
    if constexpr (kLayer == 0) {
      const V pair = _mm512_broadcast_i64x2(_mm_loadu_si128(reinterpret_cast<const __m128i*>(a)));
      return _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 0, 0, 0, 1, 1, 1, 1), pair);
    } else if constexpr (kLayer == 1) {
      const V four = _mm512_broadcast_i64x4(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(a)));
      return _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 0, 2, 2, 1, 1, 3, 3), four);
    } else {
      return _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 1, 4, 5, 2, 3, 6, 7), load(a));
    }
  }
};

POLYKEM_INLINE __m512i low52(__m512i sum, __m512i a, __m512i b) {
  return _mm512_madd52lo_epu64(sum, a, b);
}
POLYKEM_INLINE __m512i high52(__m512i sum, __m512i a, __m512i b) {
  return _mm512_madd52hi_epu64(sum, a, b);
}

/// For every q below 2^61, products by factors of any words. With x = 2^52 x1 + x0 and the factor's quotient
/// 2^12 c1 + c0, it takes h = x1 c1 + floor(x1 c0 / 2^12) + floor(x0 c1 / 2^52) for x quotient / 2^64. That lacks two
/// fractions and x0 c0 / 2^64, each below 1, so the product x w - h q is in [0, 4q), as in tools/proofs.
class Arithmetic64 : public LazyWords<Lanes512, 4> {
 public:
  struct Root {
    __m512i value, high, low;  ///< high: c1, low: 2^40 c0 and bits beyond 2^52, which products ignore
  };

  POLYKEM_INLINE explicit Arithmetic64(const Modulus& m) : LazyWords(m) {}

  POLYKEM_INLINE Root root(const Factor& factor) const {
    return {Lanes::all(factor.value), Lanes::all(factor.quotient >> 12), Lanes::all(factor.quotient << 40)};
  }
  template <size_t kLayer>
  POLYKEM_INLINE Root roots(const uint64_t* values, const uint64_t* quotients) const {
    const __m512i quotient = Lanes::spread<kLayer>(quotients);
    return {Lanes::spread<kLayer>(values), _mm512_srli_epi64(quotient, 12), _mm512_slli_epi64(quotient, 40)};
  }
  /// Range out: [0, 4q). x is any word.
  POLYKEM_INLINE __m512i multiply(__m512i x, const Root& root) const {
    const __m512i upper = _mm512_srli_epi64(x, 52);
    const __m512i h = high52(high52(_mm512_mullo_epi64(upper, root.high), upper, root.low), x, root.high);
    return _mm512_sub_epi64(_mm512_mullo_epi64(x, root.value), _mm512_mullo_epi64(h, q_));
  }
};

/// For q below 2^51, or 2^50 if kSpare, products of words below 4q. A word that is multiplied must be below 2^52:
/// without a spare bit it is first reduced.
template <bool kSpare>
class Arithmetic52 : public LazyWords<Lanes512, 2> {
 public:
  struct Root {
    __m512i value, quotient;  ///< quotient: floor(2^52 value / q)
  };

  POLYKEM_INLINE explicit Arithmetic52(const Modulus& m)
      : LazyWords(m),
        minus_q_(Lanes::all((uint64_t{1} << 52) - m.value())),
        mask_(Lanes::all((uint64_t{1} << 52) - 1)) {}

  POLYKEM_INLINE Root root(const Factor& factor) const {
    return {Lanes::all(factor.value), Lanes::all(factor.quotient >> 12)};
  }
  template <size_t kLayer>
  POLYKEM_INLINE Root roots(const uint64_t* values, const uint64_t* quotients) const {
    return {Lanes::spread<kLayer>(values), _mm512_srli_epi64(Lanes::spread<kLayer>(quotients), 12)};
  }
  /// Range in: [0, 4q). Range out: [0, 2q).
  POLYKEM_INLINE __m512i multiply(__m512i x, const Root& root) const {
    if constexpr (!kSpare) x = reduce(x);
    const __m512i zero = _mm512_setzero_si512(), h = high52(zero, x, root.quotient);
    return _mm512_and_si512(low52(low52(zero, x, root.value), h, minus_q_), mask_);
  }

 private:
  __m512i minus_q_, mask_;
};

/// A sum of up to kMaxTerms products of words below 2^61, in words of 52 bits: low + 2^52 middle + 2^104 high. low
/// stays below 2^59, middle below 3 2^59, high below 2^26.
struct WideSum {
  __m512i low = _mm512_setzero_si512(), middle = low, high = low;

  POLYKEM_INLINE void add(__m512i a, __m512i b) {
    const __m512i a1 = _mm512_srli_epi64(a, 52), b1 = _mm512_srli_epi64(b, 52);
    low = low52(low, a, b);
    middle = low52(low52(high52(middle, a, b), a1, b), a, b1);
    high = low52(high52(high52(high, a1, b), a, b1), a1, b1);
  }
};

/// A sum of up to kMaxTerms products of words below 2^52: low + 2^52 middle, each below 2^59.
struct NarrowSum {
  __m512i low = _mm512_setzero_si512(), middle = low;

  POLYKEM_INLINE void add(__m512i a, __m512i b) {
    low = low52(low, a, b);
    middle = high52(middle, a, b);
  }
};

/// Reduces sums modulo q. Range out: [0, q).
class Reduction {
 public:
  POLYKEM_INLINE explicit Reduction(const Modulus& m) : arithmetic_(m), mask_(Lanes512::all((uint64_t{1} << 52) - 1)) {
    const uint64_t radix = m.reduce(uint64_t{1} << 52);
    one_ = arithmetic_.root(m.factor(1));
    radix_ = arithmetic_.root(m.factor(radix));
    radix_squared_ = arithmetic_.root(m.factor(m.mul(radix, radix)));
  }
  POLYKEM_INLINE __m512i operator()(const NarrowSum& sum) const {
    const __m512i middle = _mm512_add_epi64(sum.middle, _mm512_srli_epi64(sum.low, 52));
    return canonical(low_part(sum.low), arithmetic_.multiply(middle, radix_));
  }
  POLYKEM_INLINE __m512i operator()(const WideSum& sum) const {
    const __m512i middle = _mm512_add_epi64(sum.middle, _mm512_srli_epi64(sum.low, 52));
    const __m512i upper = arithmetic_.reduce(
        _mm512_add_epi64(arithmetic_.multiply(middle, radix_), arithmetic_.multiply(sum.high, radix_squared_)));
    return canonical(low_part(sum.low), upper);
  }

 private:
  POLYKEM_INLINE __m512i low_part(__m512i low) const {
    return arithmetic_.multiply(_mm512_and_si512(low, mask_), one_);
  }
  POLYKEM_INLINE __m512i canonical(__m512i a, __m512i b) const {
    return arithmetic_.canonical(arithmetic_.reduce(_mm512_add_epi64(a, b)));
  }

  Arithmetic64 arithmetic_;
  Arithmetic64::Root one_, radix_, radix_squared_;
  __m512i mask_;
};

/// Calls work(butterflies) with those that are fastest for q.
template <class Work>
void with_butterflies(const Modulus& m, const NttTables& tables, const Work& work) {
  if (m.value() >> 50 == 0) return work(Butterflies<Arithmetic52<true>>(m, tables));
  if (m.value() >> 51 == 0) return work(Butterflies<Arithmetic52<false>>(m, tables));
  work(Butterflies<Arithmetic64>(m, tables));
}

void forward(const Modulus& m, const NttTables& tables, uint64_t* a) {
  with_butterflies(m, tables, [&](const auto& butterflies) { butterflies.forward(a); });
}

void inverse(const Modulus& m, const NttTables& tables, const LastLayer& last, const uint64_t* a, uint64_t* out) {
  with_butterflies(m, tables, [&](const auto& butterflies) { butterflies.inverse(last, a, out); });
}

template <class Sum>
void multiply_rows(const Modulus& m, size_t n, const uint64_t* const* a, const uint64_t* const* b, size_t count,
                   uint64_t* out) {
  const Reduction reduce(m);
  for (size_t k = 0; k < n; k += 8) {
    Sum sum;
    for (size_t i = 0; i < count; ++i)
      sum.add(Lanes512::load(a[i] + k), Lanes512::load(b[i] + k));
    Lanes512::store(out + k, reduce(sum));
  }
}

void multiply(const Modulus& m, size_t n, const uint64_t* const* a, const uint64_t* const* b, size_t count,
              uint64_t* out) {
  const auto function = m.value() >> 52 == 0 ? multiply_rows<NarrowSum> : multiply_rows<WideSum>;
  function(m, n, a, b, count, out);
}

template <class Sum>
void combine_rows(const Modulus& m, size_t n, const uint64_t* a, const uint64_t* b, size_t count, uint64_t* out) {
  const Reduction reduce(m);
  for (size_t k = 0; k < n; k += 8) {
    Sum sum;
    for (size_t i = 0; i < count; ++i)
      sum.add(Lanes512::load(a + i * n + k), Lanes512::all(b[i]));
    Lanes512::store(out + k, reduce(sum));
  }
}

void combine(const Modulus& m, size_t n, const uint64_t* a, unsigned a_bits, const uint64_t* b, size_t count,
             uint64_t* out) {
  const auto function = a_bits <= 52 && m.value() >> 52 == 0 ? combine_rows<NarrowSum> : combine_rows<WideSum>;
  function(m, n, a, b, count, out);
}

constexpr RowFunctions kRows{
    "avx512",
    forward,
    inverse,
    add_rows<Lanes512>,
    sub_rows<Lanes512>,
    sub_scale_rows<Arithmetic64>,
    multiply,
    combine,
    centre_row<Arithmetic64>,
    permute_row<Lanes512>,
};

}  // namespace
}  // namespace POLYKEM_ISA

const RowFunctions& rows_avx512() {
  return kRows;
}

}  // namespace polykem::ckks
