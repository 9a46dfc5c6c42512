// SPDX-License-Identifier: Apache-2.0
// The functions that lanes/ternary_product.hpp needs for NEON. They pick words from registers, and turn rows into bits
// and back.
#pragma once

#include <cstring>

#include "prim/polymul/lanes/gf3.hpp"

namespace polykem::polymul {
inline namespace POLYKEM_ISA {

using SliceWord = uint16_t;

/// Picks eight words from four registers of eight. Where they come from one or two of these, the compiler finds the
/// instruction; otherwise a table look-up in registers does it.
template <int... kIndex>
POLYKEM_INLINE uint16x8_t pick_eight(uint16x8_t a, uint16x8_t b, uint16x8_t c, uint16x8_t d) {
  constexpr int kWords[8] = {kIndex...};
  constexpr unsigned kUsed = ((1u << (kIndex / 8)) | ...);
  constexpr auto kFirst = static_cast<unsigned>(__builtin_ctz(kUsed)),
                 kLast = 31u - static_cast<unsigned>(__builtin_clz(kUsed));
  const uint16x8_t registers[4] = {a, b, c, d};
  if constexpr (__builtin_popcount(kUsed) <= 2) {
    return __builtin_shufflevector(registers[kFirst], registers[kLast],
                                   (kIndex / 8 == static_cast<int>(kFirst) ? kIndex % 8 : kIndex % 8 + 8)...);
  } else {
    alignas(16) static constexpr uint8_t kBytes[16] = {
        2 * kWords[0], 2 * kWords[0] + 1, 2 * kWords[1], 2 * kWords[1] + 1, 2 * kWords[2], 2 * kWords[2] + 1,
        2 * kWords[3], 2 * kWords[3] + 1, 2 * kWords[4], 2 * kWords[4] + 1, 2 * kWords[5], 2 * kWords[5] + 1,
        2 * kWords[6], 2 * kWords[6] + 1, 2 * kWords[7], 2 * kWords[7] + 1};
    const uint8x16x4_t table = {
        {vreinterpretq_u8_u16(a), vreinterpretq_u8_u16(b), vreinterpretq_u8_u16(c), vreinterpretq_u8_u16(d)}};
    return vreinterpretq_u16_u8(vqtbl4q_u8(table, vld1q_u8(kBytes)));
  }
}

/// Picks words of a (0 .. 15) and b (16 .. 31).
template <int k0, int k1, int k2, int k3, int k4, int k5, int k6, int k7, int... kHigh>
POLYKEM_INLINE Gf3::Reg pick_words(Gf3::Reg a, Gf3::Reg b) {
  return {pick_eight<k0, k1, k2, k3, k4, k5, k6, k7>(a.low, a.high, b.low, b.high),
          pick_eight<kHigh...>(a.low, a.high, b.low, b.high)};
}
template <int... kIndex>
POLYKEM_INLINE Gf3 pick(Gf3 a, Gf3 b) {
  return {pick_words<kIndex...>(a.nonzero, b.nonzero), pick_words<kIndex...>(a.negative, b.negative)};
}

/// Returns words 0 to 11 of a register, and 0 in the others.
POLYKEM_INLINE Gf3::Reg first_twelve(Gf3::Reg x) {
  return {x.low, vcombine_u16(vget_low_u16(x.high), vdup_n_u16(0))};
}
POLYKEM_INLINE Gf3::Reg all_words(SliceWord word) {
  return {vdupq_n_u16(word), vdupq_n_u16(word)};
}

inline constexpr uint16_t kLaneBits[16] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768};

/// Turns eight rows of sixteen words into eight words of each plane: bit l of word i tells of item l of row i.
POLYKEM_INLINE void slice_eight_rows(SliceWord* nonzero, SliceWord* negative, const uint16_t* rows) {
  const uint16x8_t low_bits = vld1q_u16(kLaneBits), high_bits = vld1q_u16(kLaneBits + 8);
  const auto bits = [&](uint16_t mask) __attribute__((always_inline)) {
    uint16x8_t sum[8];
    for (size_t i = 0; i < 8; ++i) {
      const uint16x8_t low = vtstq_u16(vld1q_u16(rows + 16 * i), vdupq_n_u16(mask)) & low_bits;
      const uint16x8_t high = vtstq_u16(vld1q_u16(rows + 16 * i + 8), vdupq_n_u16(mask)) & high_bits;
      sum[i] = low | high;
    }
    for (size_t step = 4; step > 0; step /= 2) {
      for (size_t i = 0; i < step; ++i)
        sum[i] = vpaddq_u16(sum[2 * i], sum[2 * i + 1]);
    }
    return sum[0];
  };
  vst1q_u16(nonzero, bits(3));
  vst1q_u16(negative, bits(2));
}

template <class Sliced>
POLYKEM_INLINE void slice_rows(Sliced s, size_t i, const uint16_t* a, size_t rows) {
  const size_t end = i + rows;
  for (; i + 8 <= end; i += 8)
    slice_eight_rows(s.nonzero + i, s.negative + i, a + 16 * i);
  if (i == end) return;
  alignas(16) uint16_t last[8 * 16] = {};
  SliceWord nonzero[8], negative[8];
  std::memcpy(last, a + 16 * i, (end - i) * 16 * sizeof *a);
  slice_eight_rows(nonzero, negative, last);
  std::memcpy(s.nonzero + i, nonzero, (end - i) * sizeof *nonzero);
  std::memcpy(s.negative + i, negative, (end - i) * sizeof *negative);
}

template <class Sliced>
POLYKEM_INLINE void unslice_row(uint16_t* c, Sliced s, size_t i) {
  const uint16x8_t nonzero = vdupq_n_u16(s.nonzero[i]), negative = vdupq_n_u16(s.negative[i]);
  for (size_t half = 0; half < 2; ++half) {
    const uint16x8_t bits = vld1q_u16(kLaneBits + 8 * half);
    const uint16x8_t magnitude = vdupq_n_u16(1) - vtstq_u16(negative, bits);
    vst1q_u16(c + 16 * i + 8 * half, vtstq_u16(nonzero, bits) & magnitude);
  }
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::polymul
