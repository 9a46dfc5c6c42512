// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arm_neon.h>

#include <cstddef>
#include <cstdint>

#include "prim/simd/isa.hpp"

namespace polykem::simd {
inline namespace POLYKEM_ISA {

/// V16 of vec16.hpp in two 128-bit registers: lanes 0 to 7, lanes 8 to 15.
struct V16 {
  struct Reg {
    uint16x8_t low, high;
  };
  static constexpr size_t kLanes = 16;
  static constexpr size_t kRowWords = kLanes;
  Reg r;

  static POLYKEM_INLINE V16 load(const uint16_t* p) { return {{vld1q_u16(p), vld1q_u16(p + 8)}}; }
  static POLYKEM_INLINE V16 load_unaligned(const uint16_t* p) { return load(p); }
  static POLYKEM_INLINE V16 set1(uint16_t x) {
    const uint16x8_t all = vdupq_n_u16(x);
    return {{all, all}};
  }
  static POLYKEM_INLINE V16 zero() { return set1(0); }
  /// Returns the same two words in every pair of lanes.
  static POLYKEM_INLINE V16 set1_pair(uint32_t x) {
    const uint16x8_t all = vreinterpretq_u16_u32(vdupq_n_u32(x));
    return {{all, all}};
  }
  POLYKEM_INLINE void store(uint16_t* p) const {
    vst1q_u16(p, r.low);
    vst1q_u16(p + 8, r.high);
  }
  POLYKEM_INLINE void store_unaligned(uint16_t* p) const { store(p); }

  friend POLYKEM_INLINE V16 operator+(V16 a, V16 b) { return {{a.r.low + b.r.low, a.r.high + b.r.high}}; }
  friend POLYKEM_INLINE V16 operator-(V16 a, V16 b) { return {{a.r.low - b.r.low, a.r.high - b.r.high}}; }
  friend POLYKEM_INLINE V16 operator*(V16 a, V16 b) { return {{a.r.low * b.r.low, a.r.high * b.r.high}}; }
  friend POLYKEM_INLINE V16 operator&(V16 a, V16 b) { return {{a.r.low & b.r.low, a.r.high & b.r.high}}; }
  friend POLYKEM_INLINE V16 operator|(V16 a, V16 b) { return {{a.r.low | b.r.low, a.r.high | b.r.high}}; }
  friend POLYKEM_INLINE V16 operator^(V16 a, V16 b) { return {{a.r.low ^ b.r.low, a.r.high ^ b.r.high}}; }
  template <int kBits>
  POLYKEM_INLINE V16 shl() const {
    return {{r.low << kBits, r.high << kBits}};
  }
  template <int kBits>
  POLYKEM_INLINE V16 shr() const {
    return {{r.low >> kBits, r.high >> kBits}};
  }
  template <int kBits>
  POLYKEM_INLINE V16 sar() const {
    const auto shifted = [](uint16x8_t x) __attribute__((always_inline)) {
      return vreinterpretq_u16_s16(vreinterpretq_s16_u16(x) >> kBits);
    };
    return {{shifted(r.low), shifted(r.high)}};
  }
  /// Shifts to the left by a number that is known at run time only, 0 to 15.
  POLYKEM_INLINE V16 shl_by(size_t bits) const {
    const int16x8_t count = vdupq_n_s16(static_cast<int16_t>(bits));
    return {{vshlq_u16(r.low, count), vshlq_u16(r.high, count)}};
  }
  /// Shifts to the right by a number that is known at run time only, 0 to 15.
  POLYKEM_INLINE V16 shr_by(size_t bits) const {
    const int16x8_t count = vdupq_n_s16(static_cast<int16_t>(-static_cast<int>(bits)));
    return {{vshlq_u16(r.low, count), vshlq_u16(r.high, count)}};
  }
  /// Returns the upper 16 bits of the unsigned product.
  friend POLYKEM_INLINE V16 mulhi_u(V16 a, V16 b) {
    const auto half = [](uint16x8_t x, uint16x8_t y) __attribute__((always_inline)) {
      const uint32x4_t low = vmull_u16(vget_low_u16(x), vget_low_u16(y)), high = vmull_high_u16(x, y);
      return vuzp2q_u16(vreinterpretq_u16_u32(low), vreinterpretq_u16_u32(high));
    };
    return {{half(a.r.low, b.r.low), half(a.r.high, b.r.high)}};
  }
  /// Returns (a b + 2^14) >> 15, signed; not for -2^15 times itself, which saturates.
  friend POLYKEM_INLINE V16 mulhrs(V16 a, V16 b) {
    const auto half = [](uint16x8_t x, uint16x8_t y) __attribute__((always_inline)) {
      return vreinterpretq_u16_s16(vqrdmulhq_s16(vreinterpretq_s16_u16(x), vreinterpretq_s16_u16(y)));
    };
    return {{half(a.r.low, b.r.low), half(a.r.high, b.r.high)}};
  }
  friend POLYKEM_INLINE V16 min_u(V16 a, V16 b) {
    return {{vminq_u16(a.r.low, b.r.low), vminq_u16(a.r.high, b.r.high)}};
  }
  /// Returns x + 1 where a > b, signed, and x elsewhere.
  friend POLYKEM_INLINE V16 plus_one_if_greater(V16 x, V16 a, V16 b) {
    const auto half = [](uint16x8_t y, uint16x8_t c, uint16x8_t d) __attribute__((always_inline)) {
      return y - vcgtq_s16(vreinterpretq_s16_u16(c), vreinterpretq_s16_u16(d));
    };
    return {{half(x.r.low, a.r.low, b.r.low), half(x.r.high, a.r.high, b.r.high)}};
  }
  /// Returns b & ~a.
  friend POLYKEM_INLINE V16 and_not(V16 a, V16 b) {
    return {{vbicq_u16(b.r.low, a.r.low), vbicq_u16(b.r.high, a.r.high)}};
  }
  /// Returns mask ? a : b, bit by bit.
  friend POLYKEM_INLINE V16 select(V16 mask, V16 a, V16 b) {
    return {{vbslq_u16(mask.r.low, a.r.low, b.r.low), vbslq_u16(mask.r.high, a.r.high, b.r.high)}};
  }
};

/// Returns the words of a and b in turn, of the lower half of every register.
POLYKEM_INLINE V16 unpack_low(V16 a, V16 b) {
  return {{vzip1q_u16(a.r.low, b.r.low), vzip1q_u16(a.r.high, b.r.high)}};
}
/// Returns the words of a and b in turn, of the upper half of every register.
POLYKEM_INLINE V16 unpack_high(V16 a, V16 b) {
  return {{vzip2q_u16(a.r.low, b.r.low), vzip2q_u16(a.r.high, b.r.high)}};
}

/// Bit i of the result is bit `kBit` of byte i of 64 bytes.
template <int kBit>
POLYKEM_INLINE uint64_t bits_of_bytes(const uint8_t* bytes) {
  const uint8x16_t weights = vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201));
  const auto marked = [&](size_t i) __attribute__((always_inline)) {
    return vandq_u8(vtstq_u8(vld1q_u8(bytes + 16 * i), vdupq_n_u8(1u << kBit)), weights);
  };
  const uint8x16_t first = vpaddq_u8(marked(0), marked(1)), second = vpaddq_u8(marked(2), marked(3));
  const uint8x16_t all = vpaddq_u8(first, second);
  return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(all, all)), 0);
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::simd
