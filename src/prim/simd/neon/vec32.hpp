// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "prim/simd/neon/vec16.hpp"

namespace polykem::simd {
inline namespace POLYKEM_ISA {

/// V32 of vec32.hpp in two 128-bit registers: lanes 0 to 3, lanes 4 to 7.
struct V32 {
  struct Reg {
    int32x4_t low, high;
  };
  static constexpr size_t kLanes = 8;
  Reg r;

  static POLYKEM_INLINE V32 load(const int32_t* p) { return {{vld1q_s32(p), vld1q_s32(p + 4)}}; }
  static POLYKEM_INLINE V32 load_unaligned(const int32_t* p) { return load(p); }
  static POLYKEM_INLINE V32 set1(int32_t x) {
    const int32x4_t all = vdupq_n_s32(x);
    return {{all, all}};
  }
  POLYKEM_INLINE void store(int32_t* p) const {
    vst1q_s32(p, r.low);
    vst1q_s32(p + 4, r.high);
  }
  POLYKEM_INLINE void store_unaligned(int32_t* p) const { store(p); }
  friend POLYKEM_INLINE V32 operator|(V32 a, V32 b) { return {{a.r.low | b.r.low, a.r.high | b.r.high}}; }
  friend POLYKEM_INLINE V32 operator&(V32 a, V32 b) { return {{a.r.low & b.r.low, a.r.high & b.r.high}}; }
  friend POLYKEM_INLINE V32 min_s(V32 a, V32 b) {
    return {{vminq_s32(a.r.low, b.r.low), vminq_s32(a.r.high, b.r.high)}};
  }
  friend POLYKEM_INLINE V32 max_s(V32 a, V32 b) {
    return {{vmaxq_s32(a.r.low, b.r.low), vmaxq_s32(a.r.high, b.r.high)}};
  }
  /// Lane i of the result is lane index[i] of a.
  friend POLYKEM_INLINE V32 permuted(V32 a, V32 index) {
    const uint8x16x2_t words = {{vreinterpretq_u8_s32(a.r.low), vreinterpretq_u8_s32(a.r.high)}};
    const auto half = [&](int32x4_t at) __attribute__((always_inline)) {
      const int32x4_t bytes = at * vdupq_n_s32(0x04040404) + vdupq_n_s32(0x03020100);
      return vreinterpretq_s32_u8(vqtbl2q_u8(words, vreinterpretq_u8_s32(bytes)));
    };
    return {{half(index.r.low), half(index.r.high)}};
  }
  /// Returns mask ? a : b, bit by bit.
  friend POLYKEM_INLINE V32 select(V32 mask, V32 a, V32 b) {
    const auto half = [](int32x4_t m, int32x4_t x, int32x4_t y) __attribute__((always_inline)) {
      return vbslq_s32(vreinterpretq_u32_s32(m), x, y);
    };
    return {{half(mask.r.low, a.r.low, b.r.low), half(mask.r.high, a.r.high, b.r.high)}};
  }
  /// Returns the upper word of (high:low) << kBits, kBits in 0..32.
  template <int kBits>
  static POLYKEM_INLINE V32 shl_pair(V32 high, V32 low) {
    if constexpr (kBits == 0) {
      return high;
    } else if constexpr (kBits == 32) {
      return low;
    } else {
      const auto half = [](int32x4_t h, int32x4_t l) __attribute__((always_inline)) {
        const uint32x4_t top = vreinterpretq_u32_s32(h) << kBits;
        return vreinterpretq_s32_u32(vsriq_n_u32(top, vreinterpretq_u32_s32(l), 32 - kBits));
      };
      return {{half(high.r.low, low.r.low), half(high.r.high, low.r.high)}};
    }
  }
  /// Stores the low halves of the lanes.
  POLYKEM_INLINE void store_low16(uint16_t* p) const { vst1q_u16(p, low_words()); }
  /// Returns the low halves of the lanes of a, then of b.
  friend POLYKEM_INLINE V16 low_halves(V32 a, V32 b) { return {{a.low_words(), b.low_words()}}; }

 private:
  POLYKEM_INLINE uint16x8_t low_words() const {
    return vuzp1q_u16(vreinterpretq_u16_s32(r.low), vreinterpretq_u16_s32(r.high));
  }
};

/// Transposes four vectors: word j of vector i becomes word i of vector j.
POLYKEM_INLINE void transpose4(int32x4_t (&v)[4]) {
  const auto wide = [](int32x4_t x) __attribute__((always_inline)) {
    return vreinterpretq_s64_s32(x);
  };
  const int64x2_t a = wide(vtrn1q_s32(v[0], v[1])), b = wide(vtrn2q_s32(v[0], v[1]));
  const int64x2_t c = wide(vtrn1q_s32(v[2], v[3])), d = wide(vtrn2q_s32(v[2], v[3]));
  v[0] = vreinterpretq_s32_s64(vzip1q_s64(a, c));
  v[1] = vreinterpretq_s32_s64(vzip1q_s64(b, d));
  v[2] = vreinterpretq_s32_s64(vzip2q_s64(a, c));
  v[3] = vreinterpretq_s32_s64(vzip2q_s64(b, d));
}

/// Loads four consecutive 32-bit words, at `offset` bytes, of each of kLanes rows: lane i of out[j] is word j of row i.
POLYKEM_INLINE void load_words4(V32 (&out)[4], const uint8_t* const* rows, size_t offset) {
  int32x4_t low[4], high[4];
  for (size_t i = 0; i < 4; ++i) {
    low[i] = vreinterpretq_s32_u8(vld1q_u8(rows[i] + offset));
    high[i] = vreinterpretq_s32_u8(vld1q_u8(rows[i + 4] + offset));
  }
  transpose4(low);
  transpose4(high);
  for (size_t j = 0; j < 4; ++j)
    out[j] = {{low[j], high[j]}};
}

/// Transposes kLanes vectors of kLanes 32-bit words: word j of vector i becomes word i of vector j.
POLYKEM_INLINE void transpose32(V32::Reg (&r)[8]) {
  int32x4_t first[4], second[4], third[4], fourth[4];
  for (size_t i = 0; i < 4; ++i) {
    first[i] = r[i].low;
    second[i] = r[i + 4].low;
    third[i] = r[i].high;
    fourth[i] = r[i + 4].high;
  }
  transpose4(first);
  transpose4(second);
  transpose4(third);
  transpose4(fourth);
  for (size_t i = 0; i < 4; ++i) {
    r[i] = {first[i], second[i]};
    r[i + 4] = {third[i], fourth[i]};
  }
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::simd
