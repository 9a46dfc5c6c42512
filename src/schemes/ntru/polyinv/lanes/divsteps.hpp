// SPDX-License-Identifier: Apache-2.0
// Division steps on f, g and their cofactors v, w [BY19, 5], in one pair of polynomials
//   P = x^(k+1) v + x^(k'+kSteps) f,  Q = w + x^kSteps g    after k steps (v, w and g without the steps' divisions by
//   x).
// A step is then a linear map of (P, Q) followed by P := x P. After k steps f and g have no terms below
// x^(k + kSteps), and v and w have no others. So both pairs share the registers.
//
// kSteps registers hold the coefficients i = 0, .., kSteps - 1 modulo kSteps of a segment of kSteps * kBits
// coefficients, so that x P moves only the bits of one register, and a segment goes through kSteps steps between a load
// and a store.
#pragma once

#include "core/secure.hpp"
#include "core/unroll.hpp"
#include "schemes/ntru/polyinv/lanes/fields.hpp"

namespace polykem::polyinv {
inline namespace POLYKEM_ISA {

template <class Field, class Layout, size_t kStepsOfPass>
struct Divsteps {
  static constexpr size_t kSteps = kStepsOfPass;
  static constexpr size_t kPlanes = Field::kPlanes;
  static constexpr size_t kBits = Layout::kBits;
  static constexpr size_t kSegmentWords = 2 * kPlanes * kSteps * kRegisterWords;

  using Element = typename Field::Element;
  using Masks = typename Field::Masks;

  /// Returns the number of passes of kSteps steps that always suffices. [BY19, 5]
  static constexpr size_t passes(size_t n) { return (2 * n - 3 + kSteps - 1) / kSteps; }
  /// Returns the number of segments whose coefficients have an effect on the result.
  static constexpr size_t segments(size_t n) { return passes(n) / kBits + 1; }
  /// Returns the number of steps in excess of 2 n - 3; each multiplies v by x and does nothing else.
  static constexpr size_t excess(size_t n) { return passes(n) * kSteps - (2 * n - 3); }

  /// Returns the word offset of a register. poly: 0 for P, 1 for Q. i: coefficient % kSteps.
  static constexpr size_t offset(size_t segment, size_t poly, size_t plane, size_t i) {
    return segment * kSegmentWords + ((poly * kPlanes + plane) * kSteps + i) * kRegisterWords;
  }

  /// Finds the masks of the next kSteps steps from the kSteps lowest coefficients of f and g, which are bit `bit` of
  /// the registers.
  static POLYKEM_INLINE void find_masks(uint16_t* masks, V16& delta, const uint16_t* state, size_t segment,
                                        size_t bit) {
    Element p[kSteps], q[kSteps];
    unroll<kSteps>([&](auto i) __attribute__((always_inline)) {
      unroll<kPlanes>([&](auto plane) __attribute__((always_inline)) {
        p[i].plane[plane] = Layout::load_around(state + offset(segment, 0, plane, i), bit);
        q[i].plane[plane] = Layout::load_around(state + offset(segment, 1, plane, i), bit);
      });
    });
    V16 now = delta;
    unroll<kSteps>([&](auto t) __attribute__((always_inline)) {
      const Masks m = Field::masks(q[t], bit % 16, now);
      Field::store_masks(masks + t * Field::kMaskWords, m);
      unroll<kSteps - t>([&](auto i) __attribute__((always_inline)) {
        Field::scale(q[i + t], m);
        Field::template step<V16>(p[i], q[i + t], m, nullptr);
      });
    });
    delta = now;
  }

  /// Applies kSteps steps to the segments first, .., last.
  static POLYKEM_NOINLINE void apply(const uint16_t* masks, uint16_t* state, size_t first, size_t last) {
    using Prepared = typename Field::template MasksWith<Swap>;
    Prepared prepared[kSteps];
    unroll<kSteps>([&](auto t) __attribute__((always_inline)) {
      prepared[t] = Field::load_masks(masks + t * Field::kMaskWords);
    });
    Element below[kSteps];  // what each step moved up out of the segment below
    unroll<kSteps>([&](auto t) __attribute__((always_inline)) {
      unroll<kPlanes>([&](auto plane) __attribute__((always_inline)) { below[t].plane[plane] = V16::zero(); });
    });
    for (size_t segment = first; segment <= last; ++segment) {
      Element p[kSteps], q[kSteps];
      unroll<kSteps>([&](auto i) __attribute__((always_inline)) {
        unroll<kPlanes>([&](auto plane) __attribute__((always_inline)) {
          p[i].plane[plane] = V16::load(state + offset(segment, 0, plane, i));
          q[i].plane[plane] = V16::load(state + offset(segment, 1, plane, i));
        });
        Field::scale(q[i], prepared[0]);
      });
      unroll<kSteps>([&](auto t) __attribute__((always_inline)) {
        unroll<kSteps>([&](auto i) __attribute__((always_inline)) {
          const Prepared* next = t + 1 < kSteps ? &prepared[(t + 1) % kSteps] : nullptr;
          Field::step(p[(i + kSteps - t) % kSteps], q[i], prepared[t], next);
        });
        unroll<kPlanes>([&](auto plane) __attribute__((always_inline)) {
          V16& top = p[kSteps - 1 - t].plane[plane];
          const V16 shifted = Layout::shift_up(top, below[t].plane[plane]);
          below[t].plane[plane] = top;
          top = shifted;
        });
      });
      unroll<kSteps>([&](auto i) __attribute__((always_inline)) {
        unroll<kPlanes>([&](auto plane) __attribute__((always_inline)) {
          p[i].plane[plane].store(state + offset(segment, 0, plane, i));
          q[i].plane[plane].store(state + offset(segment, 1, plane, i));
        });
      });
    }
  }

  /// Runs all steps. state: segments(n) segments, P = x^kSteps Phi_n and Q = 1 + x^kSteps g. Afterwards P holds x^(1 +
  /// excess) v below x^(n + kSteps).
  static POLYKEM_NOINLINE void run(uint16_t* state, size_t n) {
    V16 delta = V16::set1(1);
    alignas(64) uint16_t masks[kSteps * Field::kMaskWords];
    for (size_t pass = 0; pass < passes(n); ++pass) {
      const size_t steps = pass * kSteps;
      const size_t f_first = (pass + 1) / kBits;
      find_masks(masks, delta, state, f_first, (pass + 1) % kBits);
      const size_t f_end = (n + steps + 2 * kSteps) / (kSteps * kBits);
      const size_t f_last = f_end < segments(n) ? f_end : segments(n) - 1;
      const size_t v_last = ((steps < n ? steps : n) + kSteps) / (kSteps * kBits);
      if (v_last + 1 >= f_first) {
        apply(masks, state, 0, f_last);
      } else {
        apply(masks, state, 0, v_last);
        apply(masks, state, f_first, f_last);
      }
    }
    zeroize(masks, sizeof masks);
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::polyinv
