// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arm_neon.h>

#include <cstddef>
#include <cstdint>

#include "prim/simd/isa.hpp"

namespace polykem::polymul {
inline namespace POLYKEM_ISA {

/// Gf3 of lanes/gf3.hpp, where a register is a pair of 128-bit registers.
struct Gf3 {
  struct Reg {
    uint16x8_t low, high;
    friend POLYKEM_INLINE Reg operator&(Reg a, Reg b) { return {a.low & b.low, a.high & b.high}; }
    friend POLYKEM_INLINE Reg operator|(Reg a, Reg b) { return {a.low | b.low, a.high | b.high}; }
    friend POLYKEM_INLINE Reg operator^(Reg a, Reg b) { return {a.low ^ b.low, a.high ^ b.high}; }
    /// Returns a & ~b.
    friend POLYKEM_INLINE Reg without(Reg a, Reg b) { return {vbicq_u16(a.low, b.low), vbicq_u16(a.high, b.high)}; }
    POLYKEM_INLINE Reg operator~() const { return {~low, ~high}; }
  };
  static constexpr size_t kPlaneWords = sizeof(Reg) / sizeof(uint16_t);
  static constexpr size_t kRowWords = 2 * kPlaneWords;
  Reg nonzero;
  Reg negative;

  static POLYKEM_INLINE Reg load_plane(const uint16_t* p) { return {vld1q_u16(p), vld1q_u16(p + 8)}; }
  static POLYKEM_INLINE void store_plane(uint16_t* p, Reg plane) {
    vst1q_u16(p, plane.low);
    vst1q_u16(p + 8, plane.high);
  }
  static POLYKEM_INLINE Gf3 load(const uint16_t* p) { return {load_plane(p), load_plane(p + kPlaneWords)}; }
  POLYKEM_INLINE void store(uint16_t* p) const {
    store_plane(p, nonzero);
    store_plane(p + kPlaneWords, negative);
  }
  static POLYKEM_INLINE Gf3 zero() {
    const uint16x8_t none = vdupq_n_u16(0);
    return {{none, none}, {none, none}};
  }

  friend POLYKEM_INLINE Gf3 operator*(Gf3 a, Gf3 b) { return {a.nonzero & b.nonzero, a.negative ^ b.negative}; }
  friend POLYKEM_INLINE Gf3 operator+(Gf3 a, Gf3 b) {
    const Reg differ = a.negative ^ b.negative;
    const Reg cancel = a.nonzero & b.nonzero & differ;
    return {without(a.nonzero | b.nonzero, cancel), b.negative ^ (a.nonzero & (differ ^ b.nonzero))};
  }
  friend POLYKEM_INLINE Gf3 operator-(Gf3 a, Gf3 b) {
    const Reg same = a.negative ^ b.negative;  // the signs of a and -b agree
    const Reg cancel = without(a.nonzero & b.nonzero, same);
    const Reg flip = without(a.nonzero, same ^ b.nonzero);
    return {without(a.nonzero | b.nonzero, cancel), ~(b.negative ^ flip)};
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::polymul
