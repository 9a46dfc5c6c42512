// SPDX-License-Identifier: Apache-2.0
// Converts four rows of eight coefficients to and from their packed form.
#pragma once

#include <immintrin.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "prim/simd/isa.hpp"
#include "schemes/frodo/params.hpp"

namespace polykem::frodo::lanes {
inline namespace POLYKEM_ISA {

/// The number of rows that pack_rows and unpack_rows take at once, in one register.
inline constexpr size_t kRowsTogether = 4;

/// Returns a mask of the lowest `count` bytes. 1 <= count <= 64.
POLYKEM_INLINE __mmask64 low_bytes(size_t count) {
  return ~uint64_t{0} >> (64 - count);
}

/// Returns the bits of a where `mask` has ones, those of b elsewhere.
POLYKEM_INLINE __m512i merged(__m512i mask, __m512i a, __m512i b) {
  return _mm512_ternarylogic_epi64(mask, a, b, 0xca);
}

/// The places of the bytes of four rows, for both directions.
template <unsigned kBits>
struct RowsIndices {
  alignas(64) uint8_t packed[64], unpacked[64], shifts[64], unshifts[64];

  /// With 16 bits, two bytes change places. With 15 bits, each 64-bit lane has four coefficients, 60 bits; packed, two
  /// lanes are 15 bytes, of which the first lane has seven and a half.
  constexpr RowsIndices() : packed(), unpacked(), shifts(), unshifts() {
    for (size_t byte = 0; byte < 64; ++byte) {
      const size_t lane = byte / 8, odd = lane % 2, at = byte % 8;
      if constexpr (kBits == 16) {
        packed[byte] = unpacked[byte] = static_cast<uint8_t>(byte ^ 1);
      } else {
        packed[byte] = static_cast<uint8_t>(byte < 60 ? byte / 15 * 16 + byte % 15 : 0);
        shifts[byte] = static_cast<uint8_t>(((odd != 0 ? 48 : 52) - 8 * at) % 64);
        unpacked[byte] = static_cast<uint8_t>(60 * lane / 8 + 7 - at);
        unshifts[byte] = static_cast<uint8_t>(49 - 4 * odd - at / 2 * 15 + at % 2 * 8);
      }
    }
  }
};
template <unsigned kBits>
inline constexpr RowsIndices<kBits> kRowsIndices{};

POLYKEM_INLINE __m512i index_register(const uint8_t (&index)[64]) {
  return _mm512_load_si512(index);
}

template <unsigned kBits>
POLYKEM_INLINE __m512i pack_together(__m512i x) {
  if constexpr (kBits == 15) {
    const __m512i pairs = merged(_mm512_set1_epi32(0x3fff8000), _mm512_slli_epi32(x, 15), _mm512_srli_epi32(x, 16));
    const __m512i fours =
        merged(_mm512_set1_epi64(0x0fffffffc0000000), _mm512_slli_epi64(pairs, 30), _mm512_srli_epi64(pairs, 32));
    // The first lane of two gets the highest four bits of the second one above its own 60.
    const __m512i next = _mm512_slli_epi64(_mm512_shuffle_epi32(fours, _MM_PERM_BADC), 4);
    const __m512i lanes = merged(_mm512_set1_epi64(0x0fffffffffffffff), fours, next);
    x = _mm512_multishift_epi64_epi8(index_register(kRowsIndices<15>.shifts), lanes);
  }
  return _mm512_permutexvar_epi8(index_register(kRowsIndices<kBits>.packed), x);
}

template <unsigned kBits>
POLYKEM_INLINE __m512i unpack_together(__m512i bytes) {
  const __m512i x = _mm512_permutexvar_epi8(index_register(kRowsIndices<kBits>.unpacked), bytes);
  if constexpr (kBits == 16) return x;
  const __m512i words = _mm512_multishift_epi64_epi8(index_register(kRowsIndices<15>.unshifts), x);
  return _mm512_and_si512(words, _mm512_set1_epi16(0x7fff));
}

template <unsigned kBits>
void pack_rows(uint8_t* out, const uint16_t* in, size_t rows) {
  for (size_t i = 0; i < rows; i += kRowsTogether, out += kRowsTogether * kBits, in += kRowsTogether * kBar) {
    const size_t now = std::min(rows - i, kRowsTogether);
    const __m512i x = _mm512_maskz_loadu_epi8(low_bytes(now * kBar * sizeof *in), in);
    _mm512_mask_storeu_epi8(out, low_bytes(now * kBits), pack_together<kBits>(x));
  }
}

template <unsigned kBits>
void unpack_rows(uint16_t* out, const uint8_t* in, size_t rows) {
  for (size_t i = 0; i < rows; i += kRowsTogether, in += kRowsTogether * kBits, out += kRowsTogether * kBar) {
    const size_t now = std::min(rows - i, kRowsTogether);
    const __m512i bytes = _mm512_maskz_loadu_epi8(low_bytes(now * kBits), in);
    _mm512_mask_storeu_epi8(out, low_bytes(now * kBar * sizeof *out), unpack_together<kBits>(bytes));
  }
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::frodo::lanes
