// SPDX-License-Identifier: Apache-2.0
#include "prim/ecdh/edwards25519.hpp"

#include "prim/ecdh/once.hpp"
#include "prim/ecdh/ref/field51.hpp"

namespace polykem::ecdh::edwards25519 {
namespace {

using F = Field51;
using Element = F::Element;
using Point = EdwardsPoint<F>;

Element carried(const Element& a) {
  return F::mul(a, F::small(1));
}

/// Returns the curve's constant d = -121665 / 121666.
Element curve_constant() {
  return carried(F::sub(F::small(0), F::mul(F::small(121665), invert<F>(F::small(121666)))));
}

/// Returns what a window holds of a point with z = 1.
BaseMultiple<F> multiple_of(const Element& x, const Element& y, const Element& d) {
  const Element xy = F::mul(F::mul(x, y), d);
  return {F::add(y, x), F::sub(y, x), F::add(xy, xy)};
}

/// Returns the base point, with y = 4 / 5 and an even x. [RFC8032, 5.1]
Point base_point() {
  constexpr uint8_t kX[32] = {0x1a, 0xd5, 0x25, 0x8f, 0x60, 0x2d, 0x56, 0xc9, 0xb2, 0xa7, 0x25,
                              0x95, 0x60, 0xc7, 0x2c, 0x69, 0x5c, 0xdc, 0xd6, 0xfd, 0x31, 0xe2,
                              0xa4, 0xc0, 0xfe, 0x53, 0x6e, 0xcd, 0xd3, 0x36, 0x69, 0x21};
  const Element x = F::load({kX}), y = F::mul(F::small(4), invert<F>(F::small(5)));
  return {x, y, F::small(1), F::mul(x, y)};
}

void store(const Element& value, uint64_t (&limbs)[kLimbs][kEntries], size_t entry) {
  uint8_t bytes[32];  // reduced, so that limbs are below 2^51
  F::store(value, {bytes, 0}, 0, 1);
  const Element reduced = F::load({bytes});
  for (size_t i = 0; i < kLimbs; ++i)
    limbs[i][entry] = reduced[i];
}

std::array<Window, kWindows> table;

void make_table() {
  const Element d = curve_constant();
  Point power = base_point();  // 16^i times the base point
  for (Window& window : table) {
    const Element scale = invert<F>(power.z);
    const BaseMultiple<F> once = multiple_of(F::mul(power.x, scale), F::mul(power.y, scale), d);
    Point multiple = power;
    for (size_t entry = 0; entry < kEntries; ++entry) {
      const Element inverse = invert<F>(multiple.z);
      const auto [plus, minus, product] = multiple_of(F::mul(multiple.x, inverse), F::mul(multiple.y, inverse), d);
      store(plus, window.plus, entry);
      store(minus, window.minus, entry);
      store(product, window.product, entry);
      multiple = add<F>(multiple, once);
    }
    for (int i = 0; i < 7; ++i)
      multiple = add<F>(multiple, once);
    power = multiple;
  }
}

}  // namespace

const std::array<Window, kWindows>& base_table() {
  static Once once;
  once.call(make_table);
  return table;
}

}  // namespace polykem::ecdh::edwards25519
