// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "prim/simd/vec16.hpp"

/// Evaluation and interpolation of Toom-3 and Toom-4 in 16-bit words. Interpolation divides by powers of two, so the
/// top bits of a result are lost: one bit for Toom-3, three for Toom-4 (of any seven rational points three meet modulo
/// 2, and two of those modulo 4, so no choice loses fewer).
namespace polykem::polymul {
inline namespace POLYKEM_ISA {

using simd::V16;

constexpr uint16_t kInverse3 = 43691;
constexpr uint16_t kInverse5 = 52429;
static_assert(static_cast<uint16_t>(3 * kInverse3) == 1 && static_cast<uint16_t>(5 * kInverse5) == 1);

/// Toom-4 over the points 0, 1, -1, 2, -2, 1/2 (scaled by 8, products by 64), infinity.
struct Toom4Points {
  static constexpr size_t kBlocks = 4;
  static constexpr size_t kPoints = 7;
  static constexpr unsigned kLostBits = 3;

  static POLYKEM_INLINE void evaluate(V16 (&e)[kPoints], const V16 (&r)[kBlocks]) {
    const V16 even1 = r[0] + r[2];
    const V16 odd1 = r[1] + r[3];
    const V16 even2 = r[0] + r[2].shl<2>();
    const V16 odd2 = (r[1] + r[3].shl<2>()).shl<1>();
    e[0] = r[0];
    e[1] = even1 + odd1;
    e[2] = even1 - odd1;
    e[3] = even2 + odd2;
    e[4] = even2 - odd2;
    e[5] = ((r[0].shl<1>() + r[1]).shl<1>() + r[2]).shl<1>() + r[3];
    e[6] = r[3];
  }

  /// Computes the coefficients w0 .. w6 from the seven products: even ones are exact modulo 2^13, odd ones modulo 2^14.
  static POLYKEM_INLINE void interpolate(V16 (&w)[kPoints], const V16 (&v)[kPoints]) {
    const V16 inv3 = V16::set1(kInverse3);
    const V16 inv5 = V16::set1(kInverse5);
    const V16 w0 = v[0];
    const V16 w6 = v[6];
    const V16 even1 = (v[1] + v[2]).shr<1>();
    const V16 odd1 = v[1] - even1;                                             // w1 + w3 + w5
    const V16 w24 = (even1 - w0) - w6;                                         // w2 + w4
    const V16 even2 = ((v[3] + v[4]) - (w0 + w6.shl<6>()).shl<1>()).shr<3>();  // w2 + 4 w4
    const V16 odd2 = (v[3] - v[4]).shr<2>();                                   // w1 + 4 w3 + 16 w5
    const V16 w4 = (even2 - w24) * inv3;
    const V16 w2 = w24 - w4;
    const V16 even_half = (w2 + w0.shl<2>()).shl<4>() + (w4.shl<2>() + w6);
    const V16 odd_half = (v[5] - even_half).shr<1>();  // 16 w1 + 4 w3 + w5
    const V16 x = (odd2 - odd1) * inv3;                // w3 + 5 w5
    const V16 y = (odd1.shl<4>() - odd_half) * inv3;   // 4 w3 + 5 w5
    const V16 w3 = (y - x) * inv3;
    const V16 w5 = (x - w3) * inv5;
    w[0] = w0;
    w[1] = odd1 - (w3 + w5);
    w[2] = w2;
    w[3] = w3;
    w[4] = w4;
    w[5] = w5;
    w[6] = w6;
  }
};

/// Toom-3 over the points 0, 1, -1, 2, infinity.
struct Toom3Points {
  static constexpr size_t kBlocks = 3;
  static constexpr size_t kPoints = 5;
  static constexpr unsigned kLostBits = 1;

  static POLYKEM_INLINE void evaluate(V16 (&e)[kPoints], const V16 (&r)[kBlocks]) {
    const V16 even = r[0] + r[2];
    e[0] = r[0];
    e[1] = even + r[1];
    e[2] = even - r[1];
    e[3] = (r[2].shl<1>() + r[1]).shl<1>() + r[0];
    e[4] = r[2];
  }

  /// Computes the coefficients w0 .. w4 from the five products, exact modulo 2^15.
  static POLYKEM_INLINE void interpolate(V16 (&w)[kPoints], const V16 (&v)[kPoints]) {
    const V16 even = (v[1] + v[2]).shr<1>();
    const V16 odd = v[1] - even;  // w1 + w3
    const V16 w2 = (even - v[0]) - v[4];
    const V16 odd2 = ((v[3] - v[0]) - (v[4].shl<2>() + w2).shl<2>()).shr<1>();  // w1 + 4 w3
    const V16 w3 = (odd2 - odd) * V16::set1(kInverse3);
    w[0] = v[0];
    w[1] = odd - w3;
    w[2] = w2;
    w[3] = w3;
    w[4] = v[4];
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::polymul
