// SPDX-License-Identifier: Apache-2.0
// The multiples of edwards25519::Window as the device reads them, computed by the compiler.
#pragma once

#include <utility>

#include "prim/ecdh/cuda/field32.hpp"

namespace polykem::ecdh {
inline namespace POLYKEM_ISA {

/// The curve's constant d = -121665 / 121666.
constexpr Field32::Element kEdwardsD =
    Field32::mul(Field32::sub(Field32::small(0), Field32::small(121665)), invert<Field32>(Field32::small(121666)));

/// A point with z = 1.
struct AffinePoint {
  Field32::Element x, y;

  constexpr EdwardsPoint<Field32> projective() const { return {x, y, Field32::small(1), Field32::mul(x, y)}; }
  constexpr BaseMultiple<Field32> as_multiple() const {
    using F = Field32;
    const auto xy = F::mul(F::mul(x, y), kEdwardsD);
    return {F::reduced(F::add(y, x)), F::reduced(F::sub(y, x)), F::reduced(F::add(xy, xy))};
  }
};

/// The base point, with y = 4 / 5 and an even x. [RFC8032, 5.1]
constexpr AffinePoint kEdwardsBasePoint{
    {{0x8f25d51a, 0xc9562d60, 0x9525a7b2, 0x692cc760, 0xfdd6dc5c, 0xc0a4e231, 0xcd6e53fe, 0x216936d3}},
    Field32::mul(Field32::small(4), invert<Field32>(Field32::small(5)))};

/// The window with the multiples of a point, and 16 times this point.
struct PowerWindow {
  Field32::Window window;
  AffinePoint next;
};

constexpr PowerWindow window_of(const AffinePoint& power) {
  using F = Field32;
  constexpr size_t kPoints = edwards25519::kEntries + 1;
  const auto once = power.as_multiple();
  EdwardsPoint<F> points[kPoints]{power.projective()};
  F::Element before[kPoints]{F::small(1)};  // the product of the denominators before each point
  for (size_t i = 1; i < kPoints; ++i) {
    points[i] = points[i - 1];
    for (size_t times = i + 1 < kPoints ? 1 : 8; times > 0; --times)
      points[i] = add<F>(points[i], once);
    before[i] = F::mul(before[i - 1], points[i - 1].z);
  }
  PowerWindow out{};
  auto inverse = invert<F>(F::mul(before[kPoints - 1], points[kPoints - 1].z));
  for (size_t i = kPoints; i-- > 0;) {
    const auto scale = F::mul(inverse, before[i]);
    inverse = F::mul(inverse, points[i].z);
    const AffinePoint point{F::mul(points[i].x, scale), F::mul(points[i].y, scale)};
    if (i == edwards25519::kEntries) {
      out.next = point;
    } else {
      const auto entry = point.as_multiple();
      out.window.plus[i] = entry.plus, out.window.minus[i] = entry.minus, out.window.product[i] = entry.product;
    }
  }
  return out;
}

/// Window kWindow, with the multiples of 16^kWindow times the base point. Each is a constant of its own, since
/// compilers limit the work on one.
template <size_t kWindow>
inline constexpr PowerWindow kPowerWindow = window_of(kPowerWindow<kWindow - 1>.next);
template <>
inline constexpr PowerWindow kPowerWindow<0> = window_of(kEdwardsBasePoint);

struct BaseTable32 {
  Field32::Window window[edwards25519::kWindows];
};

template <size_t... kWindow>
constexpr BaseTable32 base_table32(std::index_sequence<kWindow...>) {
  return {{kPowerWindow<kWindow>.window...}};
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::ecdh
