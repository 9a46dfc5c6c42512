// SPDX-License-Identifier: Apache-2.0
// Products of transforms across the lanes, compression, and acceptance of uniform integers.
#pragma once

#include <cstring>

#include "core/unroll.hpp"
#include "prim/ntt/lanes/pairs.hpp"

namespace polykem::ntt {
inline namespace POLYKEM_ISA {

constexpr size_t kInterleavedWords = kN * V16::kLanes;

/// Returns coefficients 2 i and 2 i + 1 of polynomial `number`; the polynomials are interleaved and paired.
struct InterleavedPairs {
  const uint16_t* a;
  POLYKEM_INLINE Pairs operator()(size_t number, size_t i) const {
    const uint16_t* pair = a + number * kInterleavedWords + 2 * i * V16::kLanes;
    return {V16::load(pair), V16::load(pair + V16::kLanes)};
  }
};
/// Returns coefficients 2 i and 2 i + 1 of polynomial `number`; all items share the polynomials.
struct SharedPairs {
  const uint16_t* a;
  POLYKEM_INLINE Pairs operator()(size_t number, size_t i) const { return Pairs::of_all(a + number * kN + 2 * i); }
};

/// Computes NttFunctions::multiply: (a0 + a1 x)(y0 + y1 x) = a0 y0 + a1 (gamma y1) + (a0 y1 + a1 y0) x. y0 is reduced,
/// and y1 if there are four terms, rather than the sums, of which there are more.
#ifdef POLYKEM_ISA_NEON
template <size_t kTerms, class PairsOf>
void multiply_rows(uint16_t* c, const PairsOf& a, const uint16_t* y, size_t rows) {
  for (size_t i = 0; i < kN / 2; ++i) {
    const Twiddle gamma = Twiddle::of(kGammaFactors[i]);
    V16 y0[kTerms], y1[kTerms], gamma_y1[kTerms];
    unroll<kTerms>([&](auto term) __attribute__((always_inline)) {
      const uint16_t* pair = y + term * kInterleavedWords + 2 * i * V16::kLanes;
      const V16 wide = V16::load(pair + V16::kLanes);
      y0[term] = barrett(V16::load(pair));
      y1[term] = kTerms < 4 ? wide : barrett(wide);
      gamma_y1[term] = mul(y1[term], gamma);
    });
    for (size_t row = 0; row < rows; ++row) {
      const Pairs first = a(row * kTerms, i);
      Sums even = Sums::of_product(first.low, y0[0]), odd = Sums::of_product(first.low, y1[0]);
      even.add_product(first.high, gamma_y1[0]);
      odd.add_product(first.high, y0[0]);
      unroll<kTerms - 1>([&](auto more) __attribute__((always_inline)) {
        constexpr size_t kTerm = more + 1;
        const Pairs x = a(row * kTerms + kTerm, i);
        even.add_product(x.low, y0[kTerm]);
        even.add_product(x.high, gamma_y1[kTerm]);
        odd.add_product(x.low, y1[kTerm]);
        odd.add_product(x.high, y0[kTerm]);
      });
      uint16_t* to = c + row * kInterleavedWords + 2 * i * V16::kLanes;
      even.reduced().store(to);
      odd.reduced().store(to + V16::kLanes);
    }
  }
}
#else
template <size_t kTerms, class PairsOf>
void multiply_rows(uint16_t* c, const PairsOf& a, const uint16_t* y, size_t rows) {
  for (size_t i = 0; i < kN / 2; ++i) {
    const Twiddle gamma = Twiddle::of(kGammaFactors[i]);
    Pairs for_even[kTerms], for_odd[kTerms];
    unroll<kTerms>([&](auto term) __attribute__((always_inline)) {
      const uint16_t* pair = y + term * kInterleavedWords + 2 * i * V16::kLanes;
      const V16 y0 = barrett(V16::load(pair)), wide = V16::load(pair + V16::kLanes);
      POLYKEM_ASSERT_WITHIN(wide, kTransformBound);
      const V16 y1 = kTerms < 4 ? wide : barrett(wide);
      for_even[term] = Pairs::of(y0, mul(y1, gamma));
      for_odd[term] = Pairs::of(y1, y0);
    });
    for (size_t row = 0; row < rows; ++row) {
      Pairs even{V16::zero(), V16::zero()}, odd = even;  // within sum_bound(kTerms, y1's bound)
      unroll<kTerms>([&](auto term) __attribute__((always_inline)) {
        const Pairs x = a(row * kTerms + term, i);
        even = {add_products(even.low, x.low, for_even[term].low),
                add_products(even.high, x.high, for_even[term].high)};
        odd = {add_products(odd.low, x.low, for_odd[term].low), add_products(odd.high, x.high, for_odd[term].high)};
      });
      uint16_t* to = c + row * kInterleavedWords + 2 * i * V16::kLanes;
      reduced(even).store(to);
      reduced(odd).store(to + V16::kLanes);
    }
  }
}
#endif

template <class PairsOf>
void multiply_interleaved(uint16_t* c, const uint16_t* a, const uint16_t* y, size_t rows, size_t terms) {
  if (terms == 2) return multiply_rows<2>(c, PairsOf{a}, y, rows);
  if (terms == 3) return multiply_rows<3>(c, PairsOf{a}, y, rows);
  multiply_rows<4>(c, PairsOf{a}, y, rows);
}

/// Replaces every row x by f(x).
template <class F>
POLYKEM_INLINE void map_interleaved(uint16_t* polys, F&& f) {
  for (size_t i = 0; i < kInterleavedWords; i += V16::kLanes)
    f(V16::load(polys + i)).store(polys + i);
}

inline void add_product_interleaved(uint16_t* c, const uint16_t* e) {
  const Twiddle scale = Twiddle::of(StoredTwiddle::of(kR));
  for (size_t i = 0; i < kInterleavedWords; i += V16::kLanes)
    to_unsigned(barrett(mul(V16::load(c + i), scale) + V16::load(e + i))).store(c + i);
}

inline void add_interleaved(uint16_t* c, const uint16_t* e) {
  for (size_t i = 0; i < kInterleavedWords; i += V16::kLanes)
    to_unsigned(barrett(V16::load(c + i) + V16::load(e + i))).store(c + i);
}

inline void canonical_interleaved(uint16_t* polys) {
  map_interleaved(
      polys, [](V16 x) __attribute__((always_inline)) { return to_unsigned(barrett(x)); });
}

/// Returns Compress_kBits(x mod q) for x in [0, kCompressBound); the result has kBits bits. The quotient by a
/// reciprocal is the rounded one or one less; its remainder, in [0, 3 q / 2), tells which. Compare ref::compress.
/// [FIPS203, (4.7)]
template <unsigned kBits>
POLYKEM_INLINE V16 compress(V16 x) {
  POLYKEM_ASSERT_RANGE(x, 0, kCompressBound);
  const V16 quotient = mulhi_u(x, V16::set1(static_cast<uint16_t>((1u << (16 + kBits)) / kQ)));
  const V16 remainder = x.template shl<kBits>() - quotient * V16::set1(kQ);
  return plus_one_if_greater(quotient, remainder, V16::set1(kQ / 2)) & V16::set1((1u << kBits) - 1);
}

inline void compress_interleaved(uint16_t* polys, unsigned bits) {
  const auto with = [&](auto b) __attribute__((always_inline)) {
    map_interleaved(
        polys, [](V16 x) __attribute__((always_inline)) { return compress<decltype(b)::value>(x); });
  };
  using std::integral_constant;
  if (bits == 1) return with(integral_constant<unsigned, 1>{});
  if (bits == 4) return with(integral_constant<unsigned, 4>{});
  if (bits == 5) return with(integral_constant<unsigned, 5>{});
  if (bits == 10) return with(integral_constant<unsigned, 10>{});
  with(integral_constant<unsigned, 11>{});
}

inline void decompress_interleaved(uint16_t* polys, unsigned bits) {
  const V16 scale = V16::set1(static_cast<uint16_t>(1u << (15 - bits)));
  map_interleaved(
      polys, [&](V16 y) __attribute__((always_inline)) { return mulhrs(y * scale, V16::set1(kQ)); });
}

#ifdef POLYKEM_ISA_AVX512

/// The two bytes that hold each of 32 integers of 12 bits.
inline constexpr auto kTwelveBitBytes = [] {
  std::array<uint8_t, 64> index{};
  for (size_t i = 0; i < index.size(); ++i)
    index[i] = static_cast<uint8_t>(i / 2 * 3 / 2 + i % 2);
  return index;
}();

/// Appends those of 32 integers of 12 bits that are below q, and whose bit of `there` is set, to the `filled` words at
/// out, and returns the number of words. Writes a whole register.
POLYKEM_INLINE size_t append_below_q(uint16_t* out, size_t filled, __m512i x, __mmask32 there) {
  // A comparison would take the unit that the permutation and the compression need.
  const __mmask32 good = _mm512_movepi16_mask(_mm512_sub_epi16(x, _mm512_set1_epi16(kQ))) & there;
  _mm512_storeu_si512(out + filled, _mm512_maskz_compress_epi16(good, x));
  return filled + static_cast<size_t>(_mm_popcnt_u32(good));
}

/// Reads 32 integers from the 48 bytes at `in` and appends the ones that append_below_q() takes. Returns the number of
/// words, at most kN.
POLYKEM_INLINE size_t accept_32(uint16_t* out, size_t filled, const uint8_t* in, __mmask32 there) {
  const __m512i pairs = _mm512_permutexvar_epi8(_mm512_loadu_si512(kTwelveBitBytes.data()), _mm512_loadu_si512(in));
  const __m512i x = _mm512_and_si512(_mm512_srlv_epi16(pairs, _mm512_set1_epi32(4 << 16)), _mm512_set1_epi16(0xfff));
  filled = append_below_q(out, filled, x, there);
  return filled < kN ? filled : kN;
}

/// Computes NttFunctions::accept. Takes all bytes, also when there are enough words: a branch could not be predicted.
POLYKEM_INLINE size_t accept(uint16_t* out, size_t filled, const uint8_t* in, size_t bytes) {
  filled = filled < kN ? filled : kN;
  size_t at = 0;
  for (; at + 48 <= bytes; at += 48)
    filled = accept_32(out, filled, in + at, ~__mmask32{0});
  if (at < bytes) filled = accept_32(out, filled, in + at, (__mmask32{1} << ((bytes - at) / 3 * 2)) - 1);
  return filled;
}

/// Writes those of kCount integers of 12 bits that are below q to `out`, and returns their number. The integers have 16
/// bits each at `in`, which is 64-byte aligned and readable in whole registers. Does not stop at 256: may write kCount
/// words, rounded up to 32.
template <size_t kCount>
POLYKEM_INLINE size_t accept_unpacked(uint16_t* out, const uint16_t* in) {
  size_t filled = 0;
  unroll<(kCount + 31) / 32>([&](auto i) __attribute__((always_inline)) {
    constexpr size_t kHere = kCount - 32 * i < 32 ? kCount - 32 * i : 32;
    constexpr auto kThere = static_cast<__mmask32>((uint64_t{1} << kHere) - 1);
    filled = append_below_q(out, filled, _mm512_load_si512(in + 32 * i), kThere);
  });
  return filled;
}

#else

/// The bytes that bring each set of 8 lanes to the front.
inline constexpr auto kFrontBytes = [] {
  std::array<std::array<uint8_t, 16>, 256> table{};
  for (size_t set = 0; set < table.size(); ++set) {
    size_t next = 0;
    for (size_t lane = 0; lane < 8; ++lane) {
      if ((set >> lane & 1) == 0) continue;
      table[set][next++] = static_cast<uint8_t>(2 * lane);
      table[set][next++] = static_cast<uint8_t>(2 * lane + 1);
    }
  }
  return table;
}();

#ifdef POLYKEM_ISA_NEON

POLYKEM_INLINE size_t accept(uint16_t* out, size_t filled, const uint8_t* in, size_t bytes) {
  static constexpr std::array<uint8_t, 16> kPairBytes = {0, 1, 1, 2, 3, 4, 4, 5, 6, 7, 7, 8, 9, 10, 10, 11};
  static constexpr std::array<int16_t, 8> kShifts = {0, -4, 0, -4, 0, -4, 0, -4};
  static constexpr std::array<uint16_t, 8> kWeights = {1, 2, 4, 8, 16, 32, 64, 128};
  const uint8x16_t index = vld1q_u8(kPairBytes.data());
  const int16x8_t shifts = vld1q_s16(kShifts.data());
  const uint16x8_t weights = vld1q_u16(kWeights.data());
  for (size_t at = 0; at < bytes && filled < kN; at += 12) {
    const uint16x8_t pairs = vreinterpretq_u16_u8(vqtbl1q_u8(vld1q_u8(in + at), index));
    const uint16x8_t x = vshlq_u16(pairs, shifts) & vdupq_n_u16(0xfff);
    const unsigned set = vaddvq_u16(vcltq_u16(x, vdupq_n_u16(kQ)) & weights);
    vst1q_u8(reinterpret_cast<uint8_t*>(out + filled),
             vqtbl1q_u8(vreinterpretq_u8_u16(x), vld1q_u8(kFrontBytes[set].data())));
    filled += static_cast<size_t>(__builtin_popcount(set));
  }
  return filled;
}

#else

POLYKEM_INLINE size_t accept(uint16_t* out, size_t filled, const uint8_t* in, size_t bytes) {
  const __m256i index = _mm256_setr_epi8(0, 1, 1, 2, 3, 4, 4, 5, 6, 7, 7, 8, 9, 10, 10, 11, 4, 5, 5, 6, 7, 8, 8, 9, 10,
                                         11, 11, 12, 13, 14, 14, 15);
  const __m256i mask = _mm256_set1_epi16(0xfff), q = _mm256_set1_epi16(kQ);
  for (size_t at = 0; at < bytes && filled < kN; at += 24) {
    // Bytes 0..15 and 8..23: twelve of each hold eight integers.
    const __m256i raw = _mm256_permute4x64_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + at)), 0x94);
    const __m256i pairs = _mm256_shuffle_epi8(raw, index);
    const __m256i x = _mm256_and_si256(_mm256_blend_epi16(pairs, _mm256_srli_epi16(pairs, 4), 0xaa), mask);
    const __m256i good = _mm256_packs_epi16(_mm256_cmpgt_epi16(q, x), _mm256_setzero_si256());
    const auto sets = static_cast<uint32_t>(_mm256_movemask_epi8(good));
    for (unsigned half = 0; half < 2; ++half) {
      const uint32_t set = sets >> (16 * half) & 0xff;
      const __m128i eight = half == 0 ? _mm256_castsi256_si128(x) : _mm256_extracti128_si256(x, 1);
      const __m128i front = _mm_loadu_si128(reinterpret_cast<const __m128i*>(kFrontBytes[set].data()));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(out + filled), _mm_shuffle_epi8(eight, front));
      filled += static_cast<size_t>(_mm_popcnt_u32(set));
    }
  }
  return filled;
}

#endif
#endif

}  // namespace POLYKEM_ISA
}  // namespace polykem::ntt
