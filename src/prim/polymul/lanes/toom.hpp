// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/unroll.hpp"
#include "prim/polymul/lanes/karatsuba.hpp"
#include "prim/polymul/lanes/toom_points.hpp"

/// Toom-3 and Toom-4 over rows of lanes. Nested levels add up the bits they lose.
namespace polykem::polymul {
inline namespace POLYKEM_ISA {

/// Multiplies two polynomials of kN rows modulo x^kN - 1, 3 m < kN <= 4 m with m = Inner::kSize: Toom-4, then Inner
/// seven times. The product is exact modulo 2^13 if Inner is exact modulo 2^16 (in general, in three bits fewer than
/// Inner).
template <size_t kN, class Inner>
struct Toom4Cyclic {
  static constexpr size_t kM = Inner::kSize;
  static_assert(3 * kM < kN && kN <= 4 * kM);
  static constexpr size_t kTail = kN - 3 * kM;
  static constexpr size_t kShift = 4 * kM - kN;
  static constexpr size_t kEvalRows = 6 * kM;
  static constexpr size_t kWorkspaceRows = 2 * kEvalRows + 14 * kM + 4 * kM + Inner::kTmpRows;

  static POLYKEM_NOINLINE void mul(uint16_t* c, const uint16_t* a, const uint16_t* b, uint16_t* workspace) {
    uint16_t* ea = workspace;
    uint16_t* eb = ea + kEvalRows * kLanes;
    uint16_t* w = eb + kEvalRows * kLanes;
    uint16_t* high = w + 14 * kM * kLanes;
    uint16_t* tmp = high + 4 * kM * kLanes;
    evaluate(ea, a);
    evaluate(eb, b);
    Inner::mul(w, a, b, tmp);
    for (size_t p = 0; p < 6; ++p) {
      const size_t at = p * kM * kLanes;
      Inner::mul(w + 2 * kM * (p + 1) * kLanes, ea + at, eb + at, tmp);
    }
    for (size_t p = 0; p < 7; ++p)
      store_row(w, 2 * kM * p + 2 * kM - 1, V16::zero());
    interpolate_and_fold(c, w, high);
  }

 private:
  /// Computes all values except the one at 0, which is the first block itself.
  static POLYKEM_INLINE void evaluate_row(uint16_t* rows, size_t i, V16 r0, V16 r1, V16 r2, V16 r3) {
    V16 e[7];
    Toom4Points::evaluate(e, {r0, r1, r2, r3});
    unroll<6>([&](auto p) __attribute__((always_inline)) { store_row(rows, p * kM + i, e[p + 1]); });
  }

  static POLYKEM_NOINLINE void evaluate(uint16_t* e, const uint16_t* a) {
    for (size_t i = 0; i < kTail; ++i) {
      evaluate_row(e, i, load_row(a, i), load_row(a, kM + i), load_row(a, 2 * kM + i), load_row(a, 3 * kM + i));
    }
    for (size_t i = kTail; i < kM; ++i) {
      evaluate_row(e, i, load_row(a, i), load_row(a, kM + i), load_row(a, 2 * kM + i), V16::zero());
    }
  }

  /// Computes row i of the eight blocks of the linear product: r[k] is coefficient k kM + i.
  static POLYKEM_INLINE void interpolate_row(V16 (&r)[8], const uint16_t* w, size_t i) {
    V16 v[7];
    V16 low[7];
    V16 up[7];
    unroll<7>([&](auto p) __attribute__((always_inline)) { v[p] = load_row(w, 2 * kM * p + i); });
    Toom4Points::interpolate(low, v);
    unroll<7>([&](auto p) __attribute__((always_inline)) { v[p] = load_row(w, 2 * kM * p + kM + i); });
    Toom4Points::interpolate(up, v);
    r[0] = low[0];
    unroll<6>([&](auto k) __attribute__((always_inline)) { r[k + 1] = low[k + 1] + up[k]; });
    r[7] = up[6];
  }

  /// Adds coefficient kN + j of the linear product to coefficient j. With s = kShift, the upper half (kept in `high`)
  /// is added to the lower one s rows later, so that one pass suffices except for the first s rows of each block.
  static POLYKEM_NOINLINE void interpolate_and_fold(uint16_t* c, const uint16_t* w, uint16_t* high) {
    V16 r[8];
    for (size_t i = 0; i < kM; ++i) {
      interpolate_row(r, w, i);
      unroll<4>([&](auto k) __attribute__((always_inline)) { store_row(high, k * kM + i, r[k + 4]); });
      if (i >= kShift) {
        unroll<4>([&](auto k) __attribute__((always_inline)) { r[k] = r[k] + load_row(high, k * kM + i - kShift); });
      }
      unroll<3>([&](auto k) __attribute__((always_inline)) { store_row(c, k * kM + i, r[k]); });
      if (i < kTail) {
        store_row(c, 3 * kM + i, r[3]);
      } else {
        // Coefficients kN .. 4 kM - 1 of the linear product belong to the first rows.
        store_row(c, i - kTail, load_row(c, i - kTail) + r[3]);
      }
    }
    for (size_t i = 0; i < kShift; ++i) {
      unroll<3>([&](auto k) __attribute__((always_inline)) {
        const size_t at = (k + 1) * kM + i;
        store_row(c, at, load_row(c, at) + load_row(high, at - kShift));
      });
    }
  }
};

/// Computes the linear product of two polynomials of 3 m rows, m = Inner::kSize, by Toom-3 over 0, 1, -1, 2, infinity.
/// It is exact in one bit fewer than Inner. `c` has 6 m rows, the last of which is not written. kRows rows of a and b
/// are read, the others count as zero.
template <class Inner, size_t kRows = 3 * Inner::kSize>
struct Toom3 {
  static constexpr size_t kM = Inner::kSize;
  static constexpr size_t kSize = 3 * kM;
  static_assert(2 * kM < kRows && kRows <= 3 * kM);
  static constexpr size_t kTail = kRows - 2 * kM;
  static constexpr size_t kEvalRows = 4 * kM;
  static constexpr size_t kTmpRows = 2 * kEvalRows + 10 * kM + Inner::kTmpRows;

  static POLYKEM_NOINLINE void mul(uint16_t* c, const uint16_t* a, const uint16_t* b, uint16_t* workspace) {
    uint16_t* ea = workspace;
    uint16_t* eb = ea + kEvalRows * kLanes;
    uint16_t* w = eb + kEvalRows * kLanes;
    uint16_t* tmp = w + 10 * kM * kLanes;
    evaluate(ea, a);
    evaluate(eb, b);
    Inner::mul(w, a, b, tmp);
    for (size_t p = 0; p < 4; ++p) {
      const size_t at = p * kM * kLanes;
      Inner::mul(w + 2 * kM * (p + 1) * kLanes, ea + at, eb + at, tmp);
    }
    for (size_t p = 0; p < 5; ++p)
      store_row(w, 2 * kM * p + 2 * kM - 1, V16::zero());
    interpolate(c, w);
  }

 private:
  static POLYKEM_INLINE void evaluate_row(uint16_t* rows, size_t i, V16 r0, V16 r1, V16 r2) {
    V16 e[5];
    Toom3Points::evaluate(e, {r0, r1, r2});
    unroll<4>([&](auto p) __attribute__((always_inline)) { store_row(rows, p * kM + i, e[p + 1]); });
  }

  static POLYKEM_NOINLINE void evaluate(uint16_t* e, const uint16_t* a) {
    for (size_t i = 0; i < kTail; ++i) {
      evaluate_row(e, i, load_row(a, i), load_row(a, kM + i), load_row(a, 2 * kM + i));
    }
    for (size_t i = kTail; i < kM; ++i)
      evaluate_row(e, i, load_row(a, i), load_row(a, kM + i), V16::zero());
  }

  static POLYKEM_INLINE void interpolate_row(V16 (&w)[5], const uint16_t* values, size_t i) {
    V16 v[5];
    unroll<5>([&](auto p) __attribute__((always_inline)) { v[p] = load_row(values, 2 * kM * p + i); });
    Toom3Points::interpolate(w, v);
  }

  static POLYKEM_NOINLINE void interpolate(uint16_t* c, const uint16_t* values) {
    V16 low[5];
    V16 up[5];
    for (size_t i = 0; i < kM; ++i) {
      interpolate_row(low, values, i);
      interpolate_row(up, values, kM + i);
      store_row(c, i, low[0]);
      unroll<4>([&](auto k) __attribute__((always_inline)) { store_row(c, (k + 1) * kM + i, low[k + 1] + up[k]); });
      store_row(c, 5 * kM + i, up[4]);
    }
  }
};

/// Multiplies modulo x^kN - 1 through a linear product of Linear::kSize >= kN rows that reads kN rows of its operands.
template <size_t kN, class Linear>
struct FoldedCyclic {
  static constexpr size_t kWorkspaceRows = 2 * Linear::kSize + Linear::kTmpRows;

  static POLYKEM_NOINLINE void mul(uint16_t* c, const uint16_t* a, const uint16_t* b, uint16_t* workspace) {
    Linear::mul(workspace, a, b, workspace + 2 * Linear::kSize * kLanes);
    for (size_t i = 0; i + 1 < kN; ++i)
      store_row(c, i, load_row(workspace, i) + load_row(workspace, kN + i));
    store_row(c, kN - 1, load_row(workspace, kN - 1));
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::polymul
