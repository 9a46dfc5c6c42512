// SPDX-License-Identifier: Apache-2.0
// Converts NTRU's records and random bytes to polynomials, and polynomials to records, one item at a time with AVX-512.
// [NTRU20, pack_S3, pack_Rq0, pack_Sq]
#pragma once

#include "schemes/ntru/single/poly.hpp"

namespace polykem::ntru::single {
inline namespace POLYKEM_ISA {

/// Returns bytes [at, end) of a record, at most 64, followed by zeros.
POLYKEM_INLINE __m512i load_record(const uint8_t* record, size_t at, size_t end) {
  return _mm512_maskz_loadu_epi8(low_bits(at < end ? end - at : 0), record + at);
}

/// Reduces n - 1 bytes mod 3, one for each coefficient but the last, which becomes 0. [NTRU20, Ternary]
template <NtruParams P>
void sample_iid(Trits<P>& a, const uint8_t* in) {
  each_bytes<P>([&](size_t i) { store64(a.c + i, mod3_bytes(load_record(in, i, P.n - 1))); });
}

/// The number of bytes that are packed from one register. Each has five trits, the lowest one first.
inline constexpr size_t kTritsPacked = 12;
struct PackTrits {
  alignas(64) uint8_t low[64], high[64];  ///< the indices of trits 0 .. 3 of each byte, and of trit 4
  alignas(64) int8_t low_weight[64], high_weight[64];
  constexpr PackTrits() : low(), high(), low_weight(), high_weight() {
    constexpr int8_t kPowers[] = {1, 3, 9, 27, 81};
    for (size_t byte = 0; byte < kTritsPacked; ++byte) {
      for (size_t j = 0; j < 4; ++j) {
        low[4 * byte + j] = static_cast<uint8_t>(5 * byte + j);
        low_weight[4 * byte + j] = kPowers[j];
      }
      high[4 * byte] = static_cast<uint8_t>(5 * byte + 4);
      high_weight[4 * byte] = kPowers[4];
    }
  }
};
inline constexpr PackTrits kPackTrits{};

/// Writes P.trits_bytes() bytes of five trits each.
template <NtruParams P>
void store_S3(uint8_t* out, const Trits<P>& a) {
  const __m512i low = load64(kPackTrits.low), high = load64(kPackTrits.high);
  const __m512i low_weight = load64(kPackTrits.low_weight), high_weight = load64(kPackTrits.high_weight);
  for (size_t byte = 0; byte < P.trits_bytes(); byte += kTritsPacked) {
    const __m512i x = load_record(a.c, 5 * byte, kWidth<P>);
    __m512i sum = _mm512_dpbusd_epi32(_mm512_setzero_si512(), _mm512_permutexvar_epi8(low, x), low_weight);
    sum = _mm512_dpbusd_epi32(sum, _mm512_permutexvar_epi8(high, x), high_weight);
    const size_t left = P.trits_bytes() - byte;
    const auto mask = static_cast<__mmask16>(low_bits(left < kTritsPacked ? left : kTritsPacked));
    _mm512_mask_cvtepi32_storeu_epi8(out + byte, mask, sum);
  }
}

/// Tables that unpack 32 trits, of which the first is digit `phase` of a byte. The digits of byte x are floor(x /
/// 3^digit) mod 3, and floor(x / 3^digit) is the upper half of x ceil(2^16 / 3^digit) for x < 2^8; for digit 0, x is
/// kept as it is.
struct UnpackTrits {
  alignas(64) uint8_t index[5][64];
  alignas(64) uint16_t factor[5][32];
  uint32_t whole[5];
  constexpr UnpackTrits() : index(), factor(), whole() {
    constexpr uint32_t kPowers[] = {1, 3, 9, 27, 81};
    for (size_t phase = 0; phase < 5; ++phase) {
      for (size_t i = 0; i < 32; ++i) {
        const size_t digit = (phase + i) % 5;
        index[phase][2 * i] = index[phase][2 * i + 1] = static_cast<uint8_t>((phase + i) / 5);
        factor[phase][i] = static_cast<uint16_t>(digit == 0 ? 0 : (65536 + kPowers[digit] - 1) / kPowers[digit]);
        if (digit == 0) whole[phase] |= 1u << i;
      }
    }
  }
};
inline constexpr UnpackTrits kUnpackTrits{};

/// Reads five trits from each byte. Every byte is accepted: only its five lowest base-3 digits count.
template <NtruParams P>
void load_S3(Trits<P>& a, const uint8_t* in) {
  const auto trits = [&](size_t i) {
    const size_t phase = i % 5;
    const __m512i bytes = load_record(in, i / 5, P.trits_bytes());
    const __m512i x = _mm512_maskz_permutexvar_epi8(0x5555555555555555u, load64(kUnpackTrits.index[phase]), bytes);
    const __m512i factor = load64(kUnpackTrits.factor[phase]);
    const auto fraction = static_cast<__mmask32>(~kUnpackTrits.whole[phase]);
    return mod3_words(_mm512_mask_mulhi_epu16(x, fraction, x, factor));
  };
  each_bytes<P>([&](size_t i) { store64(a.c + i, narrowed(trits(i), trits(i + 32))); });
  end_trits<P>(a);
}

/// Tables that unpack 32 coefficients of kBits bits from 4 kBits bytes.
template <unsigned kBits>
struct UnpackBits {
  alignas(64) uint8_t low[64], high[64];  ///< indices of the word with a coefficient's first bit, and of the next word
  alignas(64) uint16_t shift[32];
  constexpr UnpackBits() : low(), high(), shift() {
    for (size_t i = 0; i < 32; ++i) {
      for (size_t j = 0; j < 2; ++j) {
        low[2 * i + j] = static_cast<uint8_t>(kBits * i / 8 + j);
        high[2 * i + j] = static_cast<uint8_t>(kBits * i / 8 + 2 + j);
      }
      shift[i] = kBits * i % 8;
    }
  }
};
template <unsigned kBits>
inline constexpr UnpackBits<kBits> kUnpackBits{};

/// Reads the first n - 1 coefficients. The others become 0.
template <NtruParams P>
void load_Sq(Words<P>& a, const uint8_t* in) {
  constexpr const auto& kTable = kUnpackBits<P.logq>;
  const __m512i low = load64(kTable.low), high = load64(kTable.high), shift = load64(kTable.shift);
  const __m512i mask = words(P.q() - 1);
  each_words<P>([&](size_t i) {
    const __m512i x = load_record(in, i * P.logq / 8, P.rq_bytes());
    const __m512i pairs = _mm512_shrdv_epi16(_mm512_permutexvar_epi8(low, x), _mm512_permutexvar_epi8(high, x), shift);
    store64(a.c + i, _mm512_and_si512(pairs, mask));
  });
  a.c[P.n - 1] = 0;
}

/// Reads the first n - 1 coefficients. Coefficient n - 1 becomes minus their sum.
template <NtruParams P>
void load_Rq_sum_zero(Words<P>& a, const uint8_t* in) {
  load_Sq<P>(a, in);
  __m512i sum = _mm512_setzero_si512();
  each_words<P>([&](size_t i) { sum = _mm512_add_epi16(sum, load64(a.c + i)); });
  const __m512i pairs = _mm512_madd_epi16(sum, words(1));
  a.c[P.n - 1] = static_cast<uint16_t>(0 - _mm512_reduce_add_epi32(pairs));
}

/// Tables that pack 32 coefficients of kBits bits, four in each 64-bit word, into 4 kBits bytes. If kBits is odd, every
/// second word begins in the middle of a byte: it is shifted by four bits, and two words share a byte.
template <unsigned kBits>
struct PackBits {
  alignas(64) uint8_t even[64], odd[64];
  uint64_t even_mask, odd_mask;
  alignas(64) uint64_t shift[8];
  constexpr PackBits() : even(), odd(), even_mask(0), odd_mask(0), shift() {
    for (size_t word = 0; word < 8; ++word) {
      const size_t first = 4 * kBits * word, end = first + 4 * kBits;
      shift[word] = first % 8;
      for (size_t byte = first / 8; 8 * byte < end; ++byte) {
        const auto from = static_cast<uint8_t>(8 * word + byte - first / 8);
        (word % 2 == 0 ? even : odd)[byte] = from;
        (word % 2 == 0 ? even_mask : odd_mask) |= uint64_t{1} << byte;
      }
    }
  }
};
template <unsigned kBits>
inline constexpr PackBits<kBits> kPackBits{};

/// Writes the first n - 1 coefficients mod q as P.rq_bytes() bytes, whose unused bits are 0.
template <NtruParams P>
void store_Sq(uint8_t* out, const Words<P>& a) {
  constexpr const auto& kTable = kPackBits<P.logq>;
  const __m512i even = load64(kTable.even), odd = load64(kTable.odd), shift = load64(kTable.shift);
  const __m512i mask = words(P.q() - 1), pair = _mm512_set1_epi32(static_cast<int>(1 | P.q() << 16));
  for (size_t i = 0; i < P.n - 1; i += 32) {
    const auto used = static_cast<__mmask32>(low_bits(P.n - 1 - i));
    const __m512i x = _mm512_maskz_mov_epi16(used, _mm512_and_si512(load64(a.c + i), mask));
    const __m512i two = _mm512_madd_epi16(x, pair);
    // The upper half moves down to where the lower one ends.
    const __m512i four =
        _mm512_or_si512(_mm512_maskz_mov_epi32(0x5555, two), _mm512_slli_epi64(_mm512_srli_epi64(two, 32), 2 * P.logq));
    const __m512i placed = _mm512_sllv_epi64(four, shift);
    const __m512i packed = _mm512_or_si512(_mm512_maskz_permutexvar_epi8(kTable.even_mask, even, placed),
                                           _mm512_maskz_permutexvar_epi8(kTable.odd_mask, odd, placed));
    // The store of a whole register reaches beyond these bytes; the next round overwrites what it writes there.
    const size_t at = i * P.logq / 8, left = P.rq_bytes() - at;
    if (left >= 64) {
      _mm512_storeu_si512(out + at, packed);
    } else {
      _mm512_mask_storeu_epi8(out + at, low_bits(left), packed);
    }
  }
}

/// Returns all ones if a bit of the last byte beyond the last coefficient is set, else 0.
template <NtruParams P>
uint32_t padding_mask(const uint8_t* packed) {
  constexpr unsigned kUsed = (P.n - 1) * P.logq % 8;
  if constexpr (kUsed == 0) return 0;
  return ct::mask_nonzero(static_cast<uint32_t>(packed[P.rq_bytes() - 1]) >> kUsed);
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::ntru::single
