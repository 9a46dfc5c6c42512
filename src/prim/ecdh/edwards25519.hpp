// SPDX-License-Identifier: Apache-2.0
// Multiples of the base point of edwards25519, the twisted Edwards curve -x^2 + y^2 = 1 + d x^2 y^2 whose points
// correspond to curve25519's by u = (1 + y) / (1 - y). [RFC7748, 4.1]
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "prim/ecdh/x25519.hpp"

namespace polykem::ecdh {
namespace edwards25519 {

inline constexpr size_t kWindows = 64, kEntries = 8, kLimbs = 5;

/// The points that are 1 to 8 times 16^i times the base point, in window i. `plus` is y + x of each, `minus` is y - x,
/// and `product` is 2 d x y. They have limbs of 51 bits; limb l of all entries fills a register.
struct alignas(64) Window {
  uint64_t plus[kLimbs][kEntries], minus[kLimbs][kEntries], product[kLimbs][kEntries];
};

/// Returns the table, which the first call makes in half a millisecond.
const std::array<Window, kWindows>& base_table();

}  // namespace edwards25519

inline namespace POLYKEM_ISA {

/// An entry of a window, or its negative, as elements of a field.
template <class F>
struct BaseMultiple {
  typename F::Element plus, minus, product;
};

/// A LadderField that also multiplies base points. It has its own form of the table's windows. A Digit is from -8 to 8:
/// next_digit() takes 4 bits of the scalars and the carry of the digit before, and leaves its own carry.
template <class F>
concept BasePointField = LadderField<F> &&
    requires(typename F::Scalars k, typename F::Sum s, typename F::Digit digit, const typename F::Window& window) {
  { F::twice(s) } -> std::same_as<typename F::Sum>;
  { F::next_digit(k, size_t{0}, digit) } -> std::same_as<typename F::Digit>;
  { F::select_multiple(window, digit) } -> std::same_as<BaseMultiple<F>>;
};

/// The point (X / Z, Y / Z), with T = X Y / Z.
template <class F>
struct EdwardsPoint {
  typename F::Sum x, y, z, t;
};

/// Adds two points by complete formulas, which are right for all points. [HWCD08, 3.1]
template <BasePointField F>
constexpr EdwardsPoint<F> add(const EdwardsPoint<F>& p, const BaseMultiple<F>& q) {
  const auto a = F::mul(F::sub(p.y, p.x), q.minus), b = F::mul(F::add(p.y, p.x), q.plus);
  const auto c = F::mul(F::carry(p.t), q.product), d = F::twice(p.z);
  const auto e = F::sub(b, a), f = F::sub(d, c), g = F::add(d, c), h = F::add(b, a);
  return {F::mul(e, f), F::mul(g, h), F::mul(f, g), F::mul(e, h)};
}

/// Returns the u coordinates of scalar times the base point, as the sum of one multiple for each digit of 4 bits.
/// `table` has kWindows windows.
template <BasePointField F>
constexpr typename F::Element base_point_times(const typename F::Scalars& scalars, const typename F::Window* table) {
  const auto zero = F::mul(F::small(0), F::small(0)), one = F::mul(F::small(1), F::small(1));
  EdwardsPoint<F> sum{zero, one, one, zero};
  typename F::Digit carry{};
  for (size_t i = 0; i < edwards25519::kWindows; ++i)
    sum = add<F>(sum, F::select_multiple(table[i], F::next_digit(scalars, i, carry)));
  return F::carry(F::mul(F::add(sum.z, sum.y), invert<F>(F::sub(sum.z, sum.y))));
}

template <BasePointField F>
void x25519_public_keys(size_t count, ConstByteRows scalars, ByteRows points, bool* valid, std::byte* /*workspace*/) {
  for (size_t first = 0; first < count; first += F::kLanes) {
    const auto u = base_point_times<F>(F::load_scalars(pointers_to<F::kLanes>(scalars, first, count)),
                                       edwards25519::base_table().data());
    F::store(u, points, first, std::min(F::kLanes, count - first));
  }
  std::fill_n(valid, count, true);
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::ecdh
