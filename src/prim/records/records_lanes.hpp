// SPDX-License-Identifier: Apache-2.0
// Between records (item after item in memory) and blocks (one item per 16-bit lane, word i of all items side by side).
// Included by one translation unit per instruction set. No address depends on data.
#pragma once

#include <cstring>

#include "prim/keccak/keccak_lanes.hpp"
#include "prim/simd/vec16.hpp"

namespace polykem::records {
inline namespace POLYKEM_ISA {

using simd::V16;
inline constexpr size_t kLanes = V16::kLanes;

/// Transposes kLanes vectors of kLanes 16-bit words in registers: word j of vector i becomes word i of vector j. Each pass
/// exchanges the off-diagonal halves of 2x2 blocks of growing size.
#ifdef POLYKEM_ISA_AVX512
POLYKEM_INLINE void transpose(__m512i (&r)[32]) {
  __m512i t[32];
  for (int i = 0; i < 32; i += 2) {
    t[i] = _mm512_unpacklo_epi16(r[i], r[i + 1]);
    t[i + 1] = _mm512_unpackhi_epi16(r[i], r[i + 1]);
  }
  for (int i = 0; i < 32; i += 4) {
    r[i] = _mm512_unpacklo_epi32(t[i], t[i + 2]);
    r[i + 1] = _mm512_unpackhi_epi32(t[i], t[i + 2]);
    r[i + 2] = _mm512_unpacklo_epi32(t[i + 1], t[i + 3]);
    r[i + 3] = _mm512_unpackhi_epi32(t[i + 1], t[i + 3]);
  }
  for (int i = 0; i < 32; i += 8) {
    for (int j = 0; j < 4; ++j) {
      t[i + 2 * j] = _mm512_unpacklo_epi64(r[i + j], r[i + 4 + j]);
      t[i + 2 * j + 1] = _mm512_unpackhi_epi64(r[i + j], r[i + 4 + j]);
    }
  }
  for (int k = 0; k < 8; ++k) {  // t[8g + k], 128-bit quarter q: words 8q + k of items 8g .. 8g + 7
    const __m512i a = _mm512_shuffle_i32x4(t[k], t[8 + k], 0x44), b = _mm512_shuffle_i32x4(t[k], t[8 + k], 0xee);
    const __m512i c = _mm512_shuffle_i32x4(t[16 + k], t[24 + k], 0x44), d = _mm512_shuffle_i32x4(t[16 + k], t[24 + k], 0xee);
    r[k] = _mm512_shuffle_i32x4(a, c, 0x88);
    r[8 + k] = _mm512_shuffle_i32x4(a, c, 0xdd);
    r[16 + k] = _mm512_shuffle_i32x4(b, d, 0x88);
    r[24 + k] = _mm512_shuffle_i32x4(b, d, 0xdd);
  }
}
#else
POLYKEM_INLINE void transpose(__m256i (&r)[16]) {
  __m256i t[16];
  for (int i = 0; i < 16; i += 2) {
    t[i] = _mm256_unpacklo_epi16(r[i], r[i + 1]);
    t[i + 1] = _mm256_unpackhi_epi16(r[i], r[i + 1]);
  }
  for (int i = 0; i < 16; i += 4) {
    r[i] = _mm256_unpacklo_epi32(t[i], t[i + 2]);
    r[i + 1] = _mm256_unpackhi_epi32(t[i], t[i + 2]);
    r[i + 2] = _mm256_unpacklo_epi32(t[i + 1], t[i + 3]);
    r[i + 3] = _mm256_unpackhi_epi32(t[i + 1], t[i + 3]);
  }
  for (int i = 0; i < 16; i += 8) {
    for (int j = 0; j < 4; ++j) {
      t[i + 2 * j] = _mm256_unpacklo_epi64(r[i + j], r[i + 4 + j]);
      t[i + 2 * j + 1] = _mm256_unpackhi_epi64(r[i + j], r[i + 4 + j]);
    }
  }
  for (int k = 0; k < 8; ++k) {
    r[k] = _mm256_permute2x128_si256(t[k], t[8 + k], 0x20);
    r[8 + k] = _mm256_permute2x128_si256(t[k], t[8 + k], 0x31);
  }
}
#endif

POLYKEM_INLINE V16::Reg load_reg(const uint8_t* p) { return V16::load_unaligned(reinterpret_cast<const uint16_t*>(p)).r; }
POLYKEM_INLINE void store_reg(uint8_t* p, V16::Reg r) { V16{r}.store_unaligned(reinterpret_cast<uint16_t*>(p)); }

inline constexpr size_t kVectorBytes = 2 * kLanes;

/// block[i][l] = 16-bit little-endian word i of row l, for i < ceil(bytes / 2) rounded up to kLanes: words and half words
/// beyond the row are 0, and so are lanes >= count. block has room for the rounded-up number of words.
inline void rows_to_block(uint16_t* block, ConstByteRows in, size_t bytes, size_t count) {
  for (size_t at = 0; at < bytes; at += kVectorBytes, block += kLanes * kLanes) {
    V16::Reg r[kLanes];
    const size_t whole = bytes - at < kVectorBytes ? 0 : count;
    for (size_t l = 0; l < kLanes; ++l) r[l] = l < whole ? load_reg(in.data + l * in.stride + at) : V16::zero().r;
    if (whole == 0) {
      for (size_t l = 0; l < count; ++l) {
        alignas(64) uint8_t tail[kVectorBytes] = {};
        std::memcpy(tail, in.data + l * in.stride + at, bytes - at);
        r[l] = load_reg(tail);
      }
    }
    transpose(r);
    for (size_t i = 0; i < kLanes; ++i) V16{r[i]}.store(block + i * kLanes);
  }
}

/// The inverse: `bytes` bytes of rows 0 .. count - 1 from words block[i][l]. Reads words up to a multiple of kLanes.
inline void block_to_rows(ByteRows out, const uint16_t* block, size_t bytes, size_t count) {
  for (size_t at = 0; at < bytes; at += kVectorBytes, block += kLanes * kLanes) {
    V16::Reg r[kLanes];
    for (size_t i = 0; i < kLanes; ++i) r[i] = V16::load(block + i * kLanes).r;
    transpose(r);
    const size_t left = bytes - at;
    for (size_t l = 0; l < count; ++l) {
      if (left >= kVectorBytes) {
        store_reg(out.data + l * out.stride + at, r[l]);
      } else {
        alignas(64) uint8_t tail[kVectorBytes];
        store_reg(tail, r[l]);
        std::memcpy(out.data + l * out.stride + at, tail, left);
      }
    }
  }
}

/// Mask with kBits ones at the bottom of each of four 16-bit fields.
template <unsigned kBits>
inline constexpr uint64_t kFieldMask = 0x0001000100010001u * ((uint64_t{1} << kBits) - 1);

POLYKEM_INLINE uint64_t load64(const uint8_t* p) {
  uint64_t x;
  std::memcpy(&x, p, sizeof x);
  return x;
}

/// kCount coefficients of kBits bits each, packed little-endian, into 16-bit words. kCount is a multiple of 4.
template <unsigned kBits, size_t kCount>
void unpack_row(uint16_t* words, const uint8_t* in) {
  constexpr size_t kBytes = (kCount * kBits + 7) / 8;
  static_assert(kCount % 4 == 0 && kBits <= 14);
  const auto group = [&](const uint8_t* bytes, size_t g, size_t offset) {
    const size_t bit = 4 * kBits * g;
    const uint64_t four = _pdep_u64(load64(bytes + bit / 8 - offset) >> (bit % 8), kFieldMask<kBits>);
    std::memcpy(words + 4 * g, &four, sizeof four);
  };
  constexpr size_t kGroups = kCount / 4, kSafe = kGroups - 2;
  for (size_t g = 0; g < kSafe; ++g) group(in, g, 0);
  constexpr size_t kTail = 4 * kBits * kSafe / 8;
  uint8_t tail[24] = {};
  std::memcpy(tail, in + kTail, kBytes - kTail);
  for (size_t g = kSafe; g < kGroups; ++g) group(tail, g, kTail);
}

/// The inverse of unpack_row; bits above kBits of each word are ignored, unused bits of the last byte are 0.
template <unsigned kBits, size_t kCount>
void pack_row(uint8_t* out, const uint16_t* words) {
  constexpr size_t kBytes = (kCount * kBits + 7) / 8, kGroups = kCount / 4;
  static_assert(kCount % 8 == 4);
  const auto four = [&](size_t g) {
    uint64_t x;
    std::memcpy(&x, words + 4 * g, sizeof x);
    return _pext_u64(x, kFieldMask<kBits>);
  };
  const auto eight = [&](uint8_t* to, size_t g) {
    const auto both = static_cast<unsigned __int128>(four(g)) | static_cast<unsigned __int128>(four(g + 1)) << (4 * kBits);
    std::memcpy(to, &both, sizeof both);
  };
  constexpr size_t kPairs = kGroups / 2, kSafe = kPairs - 1;
  for (size_t p = 0; p < kSafe; ++p) eight(out + p * kBits, 2 * p);
  uint8_t tail[32] = {};
  eight(tail, 2 * kSafe);
  const uint64_t last = four(kGroups - 1);
  std::memcpy(tail + kBits, &last, sizeof last);
  std::memcpy(out + kSafe * kBits, tail, kBytes - kSafe * kBits);
}

/// Words of scratch that unpack_block and pack_block need.
template <size_t kCount>
inline constexpr size_t kRowWords = (kCount + kLanes - 1) / kLanes * kLanes;

/// block[i][l] = coefficient i of row l. scratch: kLanes * kRowWords<kCount> words, 64-byte aligned.
template <unsigned kBits, size_t kCount>
void unpack_block(uint16_t* block, ConstByteRows in, size_t count, uint16_t* scratch) {
  constexpr size_t kWords = kRowWords<kCount>;
  for (size_t l = 0; l < count; ++l) unpack_row<kBits, kCount>(scratch + l * kWords, in.data + l * in.stride);
  for (size_t at = 0; at < kCount; at += kLanes) {
    V16::Reg r[kLanes];
    for (size_t l = 0; l < kLanes; ++l) r[l] = l < count ? V16::load(scratch + l * kWords + at).r : V16::zero().r;
    transpose(r);
    for (size_t i = 0; i < kLanes && at + i < kCount; ++i) V16{r[i]}.store(block + (at + i) * kLanes);
  }
}

/// Row l = coefficients block[0 .. kCount)[l], packed. scratch as above. Coefficients beyond kCount may be read.
template <unsigned kBits, size_t kCount>
void pack_block(ByteRows out, const uint16_t* block, size_t count, uint16_t* scratch) {
  constexpr size_t kWords = kRowWords<kCount>;
  for (size_t at = 0; at < kCount; at += kLanes) {
    V16::Reg r[kLanes];
    for (size_t i = 0; i < kLanes; ++i) r[i] = at + i < kCount ? V16::load(block + (at + i) * kLanes).r : V16::zero().r;
    transpose(r);
    for (size_t l = 0; l < kLanes; ++l) V16{r[l]}.store(scratch + l * kWords + at);
  }
  for (size_t l = 0; l < count; ++l) pack_row<kBits, kCount>(out.data + l * out.stride, scratch + l * kWords);
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::records
