// SPDX-License-Identifier: Apache-2.0
// The effect of a division step on the coefficients of two polynomials P and Q at one place, over GF(2) and GF(3):
// Q := Q - (Q(0) / P(0)) P, up to a factor, and P := old Q where the step swaps. [BY19, 3]
#pragma once

#include "schemes/ntru/polyinv/lanes/planes.hpp"

namespace polykem::polyinv {
inline namespace POLYKEM_ISA {

/// Returns if_swap where the mask is set, else `otherwise`.
POLYKEM_INLINE V16 choose(V16 swap, V16 if_swap, V16 otherwise) {
#ifdef POLYKEM_ISA_AVX512
  return logic3<0xca>(swap, if_swap, otherwise);
#elif defined(POLYKEM_ISA_NEON)
  return select(swap, if_swap, otherwise);
#else
  return {_mm256_blendv_epi8(otherwise.r, if_swap.r, swap.r)};
#endif
}

/// The form of a swap's mask that serves many choices. A CPU may do two operations with three vectors per cycle but
/// four of the others; a choice by a mask register takes only two vectors. Making the mask register takes long.
#ifdef POLYKEM_ISA_AVX512
using Swap = __mmask32;
POLYKEM_INLINE Swap to_swap(V16 mask) {
  return _mm512_movepi16_mask(mask.r);
}
POLYKEM_INLINE V16 choose(Swap swap, V16 if_swap, V16 otherwise) {
  return {_mm512_mask_blend_epi16(swap, otherwise.r, if_swap.r)};
}
#else
using Swap = V16;
POLYKEM_INLINE Swap to_swap(V16 mask) {
  return mask;
}
#endif

/// Advances the step's counter. Returns all ones in the lanes that swap, that is, where delta > 0 and Q(0) != 0.
POLYKEM_INLINE V16 step_delta(V16& delta, V16 nonzero) {
  const V16 swap = (V16::zero() - delta).sar<15>() & nonzero;
  delta = (delta ^ swap) - swap + V16::set1(1);
  return swap;
}

/// Returns a + b * mask over GF(2).
POLYKEM_INLINE V16 add_product(V16 a, V16 b, V16 mask) {
#ifdef POLYKEM_ISA_AVX512
  return logic3<0x78>(a, b, mask);
#else
  return a ^ (b & mask);
#endif
}

struct Gf2 {
  static constexpr size_t kPlanes = 1;
  struct Element {
    V16 plane[kPlanes];
  };
  template <class S>
  struct MasksWith {
    V16 nonzero;
    S swap;
  };
  using Masks = MasksWith<V16>;

  /// The number of words of a step's masks in memory. The masks are written as whole registers because they are soon
  /// read as whole registers.
  static constexpr size_t kMaskWords = 2 * kRegisterWords;
  static POLYKEM_INLINE void store_masks(uint16_t* to, const Masks& m) {
    m.nonzero.store(to);
    m.swap.store(to + kRegisterWords);
  }

  /// Returns the masks of a step. q0: a register with Q(0) in bit `bit` of every lane.
  static POLYKEM_INLINE Masks masks(const Element& q0, size_t bit, V16& delta) {
    const V16 nonzero = spread_bit(q0.plane[0], bit);
    return {nonzero, step_delta(delta, nonzero)};
  }
  static POLYKEM_INLINE MasksWith<Swap> load_masks(const uint16_t* from) {
    return {V16::load(from), to_swap(V16::load(from + kRegisterWords))};
  }

  template <class S>
  static POLYKEM_INLINE void scale(Element& /*q*/, const MasksWith<S>& /*m*/) {}

  template <class S>
  static POLYKEM_INLINE void step(Element& p, Element& q, const MasksWith<S>& m, const MasksWith<S>* /*next*/) {
    const V16 old_p = p.plane[0];
    p.plane[0] = choose(m.swap, q.plane[0], old_p);
    q.plane[0] = add_product(q.plane[0], old_p, m.nonzero);
  }
};

/// Plane 0 is set if a coefficient is 1 or 2, plane 1 if it is 2; where the coefficient is 0, plane 1 is undefined.
/// P(0) is always 1: the steps scale Q by its sign.
struct Gf3 {
  static constexpr size_t kPlanes = 2;
  struct Element {
    V16 plane[kPlanes];
  };
  template <class S>
  struct MasksWith {
    V16 nonzero, negative;
    S swap;
  };
  using Masks = MasksWith<V16>;

  static constexpr size_t kMaskWords = 3 * kRegisterWords;
  static POLYKEM_INLINE void store_masks(uint16_t* to, const Masks& m) {
    m.nonzero.store(to);
    m.negative.store(to + kRegisterWords);
    m.swap.store(to + 2 * kRegisterWords);
  }

  static POLYKEM_INLINE Masks masks(const Element& q0, size_t bit, V16& delta) {
    const V16 nonzero = spread_bit(q0.plane[0], bit);
    return {nonzero, spread_bit(q0.plane[1], bit), step_delta(delta, nonzero)};
  }
  static POLYKEM_INLINE MasksWith<Swap> load_masks(const uint16_t* from) {
    return {V16::load(from), V16::load(from + kRegisterWords), to_swap(V16::load(from + 2 * kRegisterWords))};
  }

  /// Replaces Q by s Q, where s is -1 where m.negative is set and 1 elsewhere. Call it before the step with these
  /// masks.
  template <class S>
  static POLYKEM_INLINE void scale(Element& q, const MasksWith<S>& m) {
    q.plane[1] = q.plane[1] ^ m.negative;
  }

  /// Computes a step, and scales for the next one if its masks are known: the scaling operates on P, off the critical
  /// path from Q to the next Q.
  template <class S>
  static POLYKEM_INLINE void step(Element& p, Element& q, const MasksWith<S>& m, const MasksWith<S>* next) {
    const V16 p_nonzero = p.plane[0], p_negative = p.plane[1], q_nonzero = q.plane[0], q_negative = q.plane[1];
    const V16 next_negative = next == nullptr ? p_negative : p_negative ^ next->negative;
#ifdef POLYKEM_ISA_AVX512
    // differ: the signs of p and q differ; same: differ ^ (p is subtracted). Three-operand instructions overwrite the
    // first operand, so it is a value that is not needed again, or a mask.
    const V16 differ = q_negative ^ p_negative;
    const V16 same = logic3<0x6a>(m.nonzero, p_nonzero, differ);
    p.plane[0] = choose(m.swap, q_nonzero, p_nonzero);
    p.plane[1] = choose(m.swap, q_negative, p_negative);
    q.plane[0] = logic3<0xd6>(differ, q_nonzero, same);
    q.plane[1] = logic3<0x39>(same, next_negative, q_nonzero);
#else
    // Computes p - q instead of q - p, which saves a complement.
    const V16 differ = p_negative ^ q_negative;
    const V16 taken = p_nonzero & m.nonzero;
    const V16 flip = and_not(differ ^ taken, q_nonzero);
    q.plane[0] = (q_nonzero ^ taken) | flip;
    q.plane[1] = next_negative ^ flip;
    p.plane[0] = choose(m.swap, q_nonzero, p_nonzero);
    p.plane[1] = choose(m.swap, q_negative, p_negative);
#endif
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::polyinv
