// SPDX-License-Identifier: Apache-2.0
// The part of lanes/kernels.hpp that depends on NEON: eight coefficients, packed and in a register.
#pragma once

#include <arm_neon.h>

#include <cstddef>
#include <cstdint>

#include "prim/records/neon/tiles.hpp"

namespace polykem::frodo::lanes {
inline namespace POLYKEM_ISA {

using Row = uint16x8_t;

POLYKEM_INLINE Row load16(const void* from) {
  return vreinterpretq_u16_u8(vld1q_u8(static_cast<const uint8_t*>(from)));
}
POLYKEM_INLINE void store16(void* to, Row x) {
  vst1q_u8(static_cast<uint8_t*>(to), vreinterpretq_u8_u16(x));
}

/// Converts between eight coefficients and the kBits bytes of their packed form.
template <unsigned kBits>
struct PackedRow;

template <>
struct PackedRow<16> {
  static POLYKEM_INLINE Row swap_bytes(Row x) { return vreinterpretq_u16_u8(vrev16q_u8(vreinterpretq_u8_u16(x))); }
  static POLYKEM_INLINE Row pack(Row coefficients) { return swap_bytes(coefficients); }
  static POLYKEM_INLINE Row unpack(Row bytes) { return swap_bytes(bytes); }
};

template <>
struct PackedRow<15> {
  /// Joins pairs to 30 bits, then halves to 60 bits.
  static POLYKEM_INLINE Row pack(Row coefficients) {
    static constexpr uint8_t kOrder[16] = {7, 6, 5, 4, 3, 2, 1, 0, 14, 13, 12, 11, 10, 9, 8, 255};
    const uint32x4_t words = vreinterpretq_u32_u16(coefficients & vdupq_n_u16(0x7fff));
    const uint64x2_t pairs = vreinterpretq_u64_u32(((words & vdupq_n_u32(0xffff)) << 15) | words >> 16);
    const uint64x2_t half = (pairs & vdupq_n_u64(0xffffffff)) << 30 | pairs >> 32;
    // Four bits of the second half complete the first one to 64.
    const uint64x2_t top = vextq_u64(half >> 56, half, 1);
    const uint64x2_t both = vcombine_u64(vget_low_u64(half << 4 | top), vget_high_u64(half));
    return vreinterpretq_u16_u8(vqtbl1q_u8(vreinterpretq_u8_u64(both), vld1q_u8(kOrder)));
  }
  /// Shifts the three bytes around each coefficient.
  static POLYKEM_INLINE Row unpack(Row bytes) {
    static constexpr uint8_t kOrder[2][16] = {{2, 1, 0, 255, 3, 2, 1, 255, 5, 4, 3, 255, 7, 6, 5, 255},
                                              {9, 8, 7, 255, 11, 10, 9, 255, 13, 12, 11, 255, 15, 14, 13, 255}};
    static constexpr int32_t kShifts[2][4] = {{-9, -2, -3, -4}, {-5, -6, -7, -8}};
    const auto four = [&](size_t half) __attribute__((always_inline)) {
      const uint8x16_t around = vqtbl1q_u8(vreinterpretq_u8_u16(bytes), vld1q_u8(kOrder[half]));
      return vreinterpretq_u16_u32(vshlq_u32(vreinterpretq_u32_u8(around), vld1q_s32(kShifts[half])));
    };
    return vuzp1q_u16(four(0), four(1)) & vdupq_n_u16(0x7fff);
  }
};

using records::transpose8;

}  // namespace POLYKEM_ISA
}  // namespace polykem::frodo::lanes
