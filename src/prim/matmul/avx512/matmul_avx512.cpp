// SPDX-License-Identifier: Apache-2.0
// Products with half the multiplications [WINOGRAD68]: x_p y_p + x_q y_q = (x_p + y_q) (x_q + y_p) - x_p x_q - y_p y_q
// for a pair p, q of terms. The last two products depend on a row of a or a column of b alone and are taken off at the
// end. Two additions take the place of one of two multiplications, for which the machine has half the units.
#include <algorithm>

#include "prim/matmul/matmul.hpp"
#include "prim/simd/isa.hpp"

#include <immintrin.h>

namespace polykem {

namespace {

constexpr size_t kLanes = 32;  ///< words of a register
/// Terms of one step: two pairs in each 32-bit lane.
constexpr size_t kTerms = 4;
constexpr size_t kRows = 8;
/// Rows of b that are used for all rows of a before the next ones: they stay in the L1 cache.
constexpr size_t kInnerBlock = 128;

POLYKEM_INLINE __mmask32 first_words(size_t count) {
  return static_cast<__mmask32>(count >= kLanes ? ~uint32_t{0} : (uint32_t{1} << count) - 1);
}

POLYKEM_INLINE __m512i broadcast_pair(const uint16_t* pair) {
  int words;
  __builtin_memcpy(&words, pair, sizeof words);
  return _mm512_set1_epi32(words);
}

/// Sum over the steps of x_p x_q of one row of a.
POLYKEM_INLINE uint32_t own_products(const uint16_t* row, size_t inner) {
  __m512i sum = _mm512_setzero_si512();
  for (size_t k = 0; k < inner; k += kLanes) {
    const __m512i x = _mm512_maskz_loadu_epi16(first_words(inner - k), row + k);
    sum = _mm512_dpwssd_epi32(sum, _mm512_maskz_mov_epi32(0x5555, x), _mm512_shuffle_epi32(x, _MM_PERM_CDAB));
  }
  return static_cast<uint32_t>(_mm512_reduce_add_epi32(sum));
}

/// The low words of the lanes of low and high, which are columns 0-3, 8-11, .. and 4-7, 12-15, ...
POLYKEM_INLINE __m512i join_columns(__m512i low, __m512i high) {
  const __m512i mask = _mm512_set1_epi32(0xffff);
  return _mm512_packus_epi32(_mm512_and_si512(low, mask), _mm512_and_si512(high, mask));
}

/// kCount rows of c, the columns of `words`, with `inner` terms, a multiple of kTerms.
template <size_t kCount>
POLYKEM_INLINE void mul_add_block(Matrix16 c, ConstMatrix16 a, ConstMatrix16 b, size_t inner, __mmask32 words,
                                  const uint32_t* own) {
  __m512i low[kCount], high[kCount];
  __m512i own_low = _mm512_setzero_si512(), own_high = own_low;
#pragma GCC unroll 8
  for (size_t i = 0; i < kCount; ++i)
    low[i] = high[i] = _mm512_setzero_si512();
  const uint16_t* from = b.data;
  for (size_t k = 0; k < inner; k += kTerms, from += kTerms * b.stride) {
    const __m512i b0 = _mm512_maskz_loadu_epi16(words, from), b1 = _mm512_maskz_loadu_epi16(words, from + b.stride);
    const __m512i b2 = _mm512_maskz_loadu_epi16(words, from + 2 * b.stride),
                  b3 = _mm512_maskz_loadu_epi16(words, from + 3 * b.stride);
    const __m512i p_low = _mm512_unpacklo_epi16(b0, b1), p_high = _mm512_unpackhi_epi16(b0, b1);
    const __m512i q_low = _mm512_unpacklo_epi16(b2, b3), q_high = _mm512_unpackhi_epi16(b2, b3);
    own_low = _mm512_dpwssd_epi32(own_low, p_low, q_low);
    own_high = _mm512_dpwssd_epi32(own_high, p_high, q_high);
#pragma GCC unroll 8
    for (size_t i = 0; i < kCount; ++i) {
      const __m512i p = broadcast_pair(a.row(i) + k), q = broadcast_pair(a.row(i) + k + 2);
      low[i] = _mm512_dpwssd_epi32(low[i], _mm512_add_epi16(p, q_low), _mm512_add_epi16(q, p_low));
      high[i] = _mm512_dpwssd_epi32(high[i], _mm512_add_epi16(p, q_high), _mm512_add_epi16(q, p_high));
    }
  }
  const __m512i own_b = join_columns(own_low, own_high);
#pragma GCC unroll 8
  for (size_t i = 0; i < kCount; ++i) {
    const __m512i own_products = _mm512_add_epi16(own_b, _mm512_set1_epi16(static_cast<short>(own[i])));
    const __m512i product = _mm512_sub_epi16(join_columns(low[i], high[i]), own_products);
    const __m512i before = _mm512_maskz_loadu_epi16(words, c.row(i));
    _mm512_mask_storeu_epi16(c.row(i), words, _mm512_add_epi16(before, product));
  }
}

/// The few terms that make no step: c += a b, one row of b at a time.
void mul_add_rest(Matrix16 c, ConstMatrix16 a, ConstMatrix16 b, ProductShape shape) {
  for (size_t i = 0; i < shape.rows; ++i) {
    for (size_t k = 0; k < shape.inner; ++k) {
      const __m512i factor = _mm512_set1_epi16(static_cast<short>(a.row(i)[k]));
      for (size_t j = 0; j < shape.columns; j += kLanes) {
        const __mmask32 words = first_words(shape.columns - j);
        const __m512i product = _mm512_mullo_epi16(factor, _mm512_maskz_loadu_epi16(words, b.row(k) + j));
        const __m512i before = _mm512_maskz_loadu_epi16(words, c.row(i) + j);
        _mm512_mask_storeu_epi16(c.row(i) + j, words, _mm512_add_epi16(before, product));
      }
    }
  }
}

/// kCount rows of c from row i on, with at most kInnerBlock terms.
template <size_t kCount>
void mul_add_rows(Matrix16 c, ConstMatrix16 a, ConstMatrix16 b, size_t inner, size_t columns) {
  uint32_t own[kCount];
  for (size_t i = 0; i < kCount; ++i)
    own[i] = own_products(a.row(i), inner);
  for (size_t j = 0; j < columns; j += kLanes)
    mul_add_block<kCount>({c.data + j, c.stride}, a, {b.data + j, b.stride}, inner, first_words(columns - j), own);
}

void mul_add(Matrix16 c, ConstMatrix16 a, ConstMatrix16 b, ProductShape shape) {
  const size_t whole = shape.inner / kTerms * kTerms;
  for (size_t k = 0; k < whole; k += kInnerBlock) {
    const size_t inner = std::min(kInnerBlock, whole - k);
    const ConstMatrix16 part{b.row(k), b.stride};
    size_t i = 0;
    for (; i + kRows <= shape.rows; i += kRows)
      mul_add_rows<kRows>({c.row(i), c.stride}, {a.row(i) + k, a.stride}, part, inner, shape.columns);
    for (; i < shape.rows; ++i)
      mul_add_rows<1>({c.row(i), c.stride}, {a.row(i) + k, a.stride}, part, inner, shape.columns);
  }
  if (whole < shape.inner) {
    mul_add_rest(c, {a.data + whole, a.stride}, {b.row(whole), b.stride},
                 {shape.rows, shape.inner - whole, shape.columns});
  }
}

// ---- dot products

/// Rows of a and of b of one block: sixteen sums.
constexpr size_t kDotRows = 2, kDotColumns = 8;

/// kCount rows of an operand from `first` on, its last one repeated where there are fewer.
template <size_t kCount>
struct Rows {
  const uint16_t* at[kCount];
  POLYKEM_INLINE Rows(ConstMatrix16 m, size_t first, size_t rows) {
    for (size_t i = 0; i < kCount; ++i)
      at[i] = m.row(std::min(first + i, rows - 1));
  }
};

/// The two registers of a step. Equal lanes of them are a pair.
struct Pair {
  __m512i p, q;
  POLYKEM_INLINE Pair(const uint16_t* row, __mmask32 first, __mmask32 second)
      : p(_mm512_maskz_loadu_epi16(first, row)), q(_mm512_maskz_loadu_epi16(second, row + kLanes)) {}
};

/// Sixteen sums, each of the lanes of one register.
POLYKEM_INLINE __m512i sum_lanes(__m512i (&r)[16]) {
  for (size_t i = 0; i < 16; i += 2)
    r[i / 2] = _mm512_add_epi32(_mm512_unpacklo_epi32(r[i], r[i + 1]), _mm512_unpackhi_epi32(r[i], r[i + 1]));
  for (size_t i = 0; i < 8; i += 2)
    r[i / 2] = _mm512_add_epi32(_mm512_unpacklo_epi64(r[i], r[i + 1]), _mm512_unpackhi_epi64(r[i], r[i + 1]));
  for (size_t i = 0; i < 4; i += 2)
    r[i / 2] = _mm512_add_epi32(_mm512_shuffle_i32x4(r[i], r[i + 1], 0x88), _mm512_shuffle_i32x4(r[i], r[i + 1], 0xdd));
  return _mm512_add_epi32(_mm512_shuffle_i32x4(r[0], r[1], 0x88), _mm512_shuffle_i32x4(r[0], r[1], 0xdd));
}

/// The sums of x_p x_q of eight rows, twice.
__m512i own_products_twice(const Rows<kDotColumns>& rows, size_t inner) {
  __m512i sum[2 * kDotColumns];
  for (__m512i& s : sum)
    s = _mm512_setzero_si512();
  for (size_t k = 0; k + kLanes < inner; k += 2 * kLanes) {
    for (size_t j = 0; j < kDotColumns; ++j) {
      const Pair y(rows.at[j] + k, first_words(inner - k), first_words(inner - k - kLanes));
      sum[j] = _mm512_dpwssd_epi32(sum[j], y.p, y.q);
    }
  }
  for (size_t j = 0; j < kDotColumns; ++j)
    sum[kDotColumns + j] = sum[j];
  return sum_lanes(sum);
}

/// a_i . b_j for two rows i and eight rows j, b's own products taken off.
__m512i dot_block(const Rows<kDotRows>& a, const Rows<kDotColumns>& b, size_t inner, __m512i own_b) {
  __m512i sum[kDotRows * kDotColumns], own_a[kDotRows];
#pragma GCC unroll 16
  for (__m512i& s : sum)
    s = _mm512_setzero_si512();
  own_a[0] = own_a[1] = _mm512_setzero_si512();
  for (size_t k = 0; k < inner; k += 2 * kLanes) {
    const __mmask32 first = first_words(inner - k);
    const __mmask32 second = inner - k > kLanes ? first_words(inner - k - kLanes) : 0;
    const Pair x[kDotRows] = {Pair(a.at[0] + k, first, second), Pair(a.at[1] + k, first, second)};
#pragma GCC unroll 2
    for (size_t i = 0; i < kDotRows; ++i)
      own_a[i] = _mm512_dpwssd_epi32(own_a[i], x[i].p, x[i].q);
#pragma GCC unroll 8
    for (size_t j = 0; j < kDotColumns; ++j) {
      const Pair y(b.at[j] + k, first, second);
#pragma GCC unroll 2
      for (size_t i = 0; i < kDotRows; ++i) {
        __m512i& s = sum[i * kDotColumns + j];
        s = _mm512_dpwssd_epi32(s, _mm512_add_epi16(x[i].p, y.q), _mm512_add_epi16(x[i].q, y.p));
      }
    }
  }
#pragma GCC unroll 16
  for (size_t i = 0; i < kDotRows * kDotColumns; ++i)
    sum[i] = _mm512_sub_epi32(sum[i], own_a[i / kDotColumns]);
  return _mm512_sub_epi32(sum_lanes(sum), own_b);
}

void mul_add_transposed(Matrix16 c, ConstMatrix16 a, ConstMatrix16 b_transposed, ProductShape shape) {
  for (size_t j = 0; j < shape.columns; j += kDotColumns) {
    const Rows<kDotColumns> right(b_transposed, j, shape.columns);
    const __m512i own = own_products_twice(right, shape.inner);
    const auto words = static_cast<__mmask8>((1u << std::min(kDotColumns, shape.columns - j)) - 1);
    for (size_t i = 0; i < shape.rows; i += kDotRows) {
      const __m256i product =
          _mm512_cvtepi32_epi16(dot_block(Rows<kDotRows>(a, i, shape.rows), right, shape.inner, own));
      const __m128i rows[kDotRows] = {_mm256_castsi256_si128(product), _mm256_extracti128_si256(product, 1)};
      for (size_t t = 0; t < std::min(kDotRows, shape.rows - i); ++t) {
        uint16_t* to = c.row(i + t) + j;
        _mm_mask_storeu_epi16(to, words, _mm_add_epi16(_mm_maskz_loadu_epi16(words, to), rows[t]));
      }
    }
  }
}

}  // namespace

const MatMul kMatMulAvx512 = {mul_add, mul_add_transposed};

}  // namespace polykem
