// SPDX-License-Identifier: Apache-2.0
// Sampling and packing with vectors, for AVX-512, AVX2 and NEON.
#pragma once

#include <cstring>

#include "prim/simd/vec16.hpp"
#include "schemes/frodo/kernels.hpp"
#if defined(POLYKEM_ISA_AVX512)
#include "schemes/frodo/avx512/packed_rows.hpp"
#include "schemes/frodo/avx512/sampler.hpp"
#elif defined(POLYKEM_ISA_NEON)
#include "schemes/frodo/neon/packed_row.hpp"
#endif

namespace polykem::frodo::lanes {
inline namespace POLYKEM_ISA {

using simd::V16;

#ifndef POLYKEM_ISA_AVX512

/// Every entry of the table is read for every word. [FRODO21, Alg 5]
class Sampler {
 public:
  explicit Sampler(const Cdf& cdf) : entries_(cdf.size - 1) {
    for (size_t z = 0; z < entries_; ++z)
      table_[z] = V16::set1(cdf.at[z]);
  }

  POLYKEM_INLINE V16 sample(V16 word) const {
    const V16 position = word.shr<1>();
    const V16 negative = V16::zero() - (word & V16::set1(1));
    V16 e = V16::zero();
    for (size_t z = 0; z < entries_; ++z)
      e = e + (table_[z] - position).template shr<15>();
    return (e ^ negative) - negative;
  }

 private:
  V16 table_[kMaxCdf];
  size_t entries_;
};

#endif

inline void sample(uint16_t* words, size_t count, const Cdf& cdf) {
  const Sampler sampler(cdf);
  size_t i = 0;
  for (; i + V16::kLanes <= count; i += V16::kLanes)
    sampler.sample(V16::load_unaligned(words + i)).store_unaligned(words + i);
  if (i < count) {
    uint16_t last[V16::kLanes] = {};
    std::memcpy(last, words + i, (count - i) * sizeof(uint16_t));
    sampler.sample(V16::load_unaligned(last)).store_unaligned(last);
    std::memcpy(words + i, last, (count - i) * sizeof(uint16_t));
  }
}

#ifndef POLYKEM_ISA_NEON

using Row = __m128i;

/// Converts between eight coefficients and the kBits bytes of their packed form. Loads and stores of bytes touch
/// kRowBytes.
template <unsigned kBits>
struct PackedRow;

template <>
struct PackedRow<16> {
  static POLYKEM_INLINE __m128i swap_bytes(__m128i x) {
    return _mm_or_si128(_mm_slli_epi16(x, 8), _mm_srli_epi16(x, 8));
  }
  static POLYKEM_INLINE __m128i pack(__m128i coefficients) { return swap_bytes(coefficients); }
  static POLYKEM_INLINE __m128i unpack(__m128i bytes) { return swap_bytes(bytes); }
};

template <>
struct PackedRow<15> {
  /// Joins pairs to 30 bits, then halves to 60 bits.
  static POLYKEM_INLINE __m128i pack(__m128i coefficients) {
    const __m128i low15 = _mm_and_si128(coefficients, _mm_set1_epi16(0x7fff));
    // -(2^15 x + y), since 2^15 is no 16-bit factor
    const __m128i negated = _mm_madd_epi16(low15, _mm_set1_epi32(static_cast<int>(0xffff8000)));
    const __m128i pairs = _mm_sub_epi32(_mm_setzero_si128(), negated);
    const __m128i half = _mm_or_si128(_mm_mul_epu32(pairs, _mm_set1_epi64x(1 << 30)), _mm_srli_epi64(pairs, 32));
    const __m128i top = _mm_srli_si128(_mm_srli_epi64(half, 56), 8);  // four bits that complete the first half to 64
    const __m128i first = _mm_or_si128(_mm_slli_epi64(half, 4), top);
    const __m128i both = _mm_blend_epi16(first, half, 0xf0);
    return _mm_shuffle_epi8(both, _mm_set_epi8(-1, 8, 9, 10, 11, 12, 13, 14, 0, 1, 2, 3, 4, 5, 6, 7));
  }
  /// Shifts the three bytes around each coefficient.
  static POLYKEM_INLINE __m128i unpack(__m128i bytes) {
    const __m256i order = _mm256_set_epi8(-1, 13, 14, 15, -1, 11, 12, 13, -1, 9, 10, 11, -1, 7, 8, 9,  //
                                          -1, 5, 6, 7, -1, 3, 4, 5, -1, 1, 2, 3, -1, 0, 1, 2);
    const __m256i around = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(bytes), order);
    const __m256i shifted = _mm256_srlv_epi32(around, _mm256_set_epi32(8, 7, 6, 5, 4, 3, 2, 9));
    const __m256i words = _mm256_and_si256(shifted, _mm256_set1_epi32(0x7fff));
    return _mm_packus_epi32(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
  }
};

POLYKEM_INLINE __m128i load16(const void* from) {
  return _mm_loadu_si128(static_cast<const __m128i*>(from));
}
POLYKEM_INLINE void store16(void* to, __m128i x) {
  _mm_storeu_si128(static_cast<__m128i*>(to), x);
}

/// Word j of row i becomes word i of row j.
POLYKEM_INLINE void transpose8(__m128i (&r)[8]) {
  __m128i a[8], b[8];
  for (size_t i = 0; i < 4; ++i) {
    a[2 * i] = _mm_unpacklo_epi16(r[i], r[i + 4]);
    a[2 * i + 1] = _mm_unpackhi_epi16(r[i], r[i + 4]);
  }
  for (size_t i = 0; i < 4; ++i) {
    b[2 * i] = _mm_unpacklo_epi16(a[i], a[i + 4]);
    b[2 * i + 1] = _mm_unpackhi_epi16(a[i], a[i + 4]);
  }
  for (size_t i = 0; i < 4; ++i) {
    r[2 * i] = _mm_unpacklo_epi16(b[i], b[i + 4]);
    r[2 * i + 1] = _mm_unpackhi_epi16(b[i], b[i + 4]);
  }
}

#endif

inline constexpr size_t kRowBytes = 16;

/// Loads the last kBits bytes of an array.
template <unsigned kBits>
POLYKEM_INLINE Row load_last(const uint8_t* from) {
  uint8_t row[kRowBytes] = {};
  std::memcpy(row, from, kBits);
  return load16(row);
}

#ifndef POLYKEM_ISA_AVX512

/// Packs rows. A store may overrun a row's end, because the next row follows; the last row's store may not.
template <unsigned kBits>
void pack_rows(uint8_t* out, const uint16_t* in, size_t rows) {
  for (; rows > 1; --rows, out += kBits, in += kBar)
    store16(out, PackedRow<kBits>::pack(load16(in)));
  uint8_t last[kRowBytes];
  store16(last, PackedRow<kBits>::pack(load16(in)));
  std::memcpy(out, last, kBits);
}

template <unsigned kBits>
void unpack_rows(uint16_t* out, const uint8_t* in, size_t rows) {
  for (; rows > 1; --rows, in += kBits, out += kBar)
    store16(out, PackedRow<kBits>::unpack(load16(in)));
  store16(out, PackedRow<kBits>::unpack(load_last<kBits>(in)));
}

#endif

/// Unpacks an n x 8 matrix and transposes it. n: a multiple of 8.
template <unsigned kBits>
void unpack_columns(Matrix16 out, const uint8_t* in, size_t n) {
  for (size_t k = 0; k < n; k += 8) {
    Row row[8];
    for (size_t i = 0; i < 8; ++i, in += kBits)
      row[i] = PackedRow<kBits>::unpack(k + i + 1 == n ? load_last<kBits>(in) : load16(in));
    transpose8(row);
    for (size_t j = 0; j < kBar; ++j)
      store16(out.row(j) + k, row[j]);
  }
}

inline void pack(uint8_t* out, const uint16_t* in, size_t count, unsigned logq) {
  logq == 16 ? pack_rows<16>(out, in, count / kBar) : pack_rows<15>(out, in, count / kBar);
}
inline void unpack(uint16_t* out, const uint8_t* in, size_t count, unsigned logq) {
  logq == 16 ? unpack_rows<16>(out, in, count / kBar) : unpack_rows<15>(out, in, count / kBar);
}
inline void unpack_transposed(Matrix16 out, const uint8_t* in, size_t n, unsigned logq) {
  logq == 16 ? unpack_columns<16>(out, in, n) : unpack_columns<15>(out, in, n);
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::frodo::lanes
