// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "prim/simd/vec16.hpp"

/// Linear products of short polynomials over a ring of lanes E (V16: integers modulo 2^16, one item per lane; Gf3: bit
/// sliced). A polynomial of k coefficients is k rows of E::kRowWords words. No division anywhere: results are exact in
/// E.
namespace polykem::polymul {
inline namespace POLYKEM_ISA {

using simd::V16;
constexpr size_t kLanes = V16::kLanes;

/// Calls f(0), f(1), .. f(kCount - 1) with compile-time indices, in this order.
template <size_t kCount, class F>
POLYKEM_INLINE void unroll(F&& f) {
  [&]<size_t... I>(std::index_sequence<I...>) __attribute__((always_inline)) {
    (f(std::integral_constant<size_t, I>{}), ...);
  }
  (std::make_index_sequence<kCount>{});
}

template <class E = V16>
POLYKEM_INLINE E load_row(const uint16_t* p, size_t row) {
  return E::load(p + row * E::kRowWords);
}
template <class E>
POLYKEM_INLINE void store_row(uint16_t* p, size_t row, E v) {
  v.store(p + row * E::kRowWords);
}

/// A polynomial as the leaf kernels read it: its rows as they lie in memory ...
template <class E>
struct Rows {
  const uint16_t* p;
  POLYKEM_INLINE E operator()(size_t i) const { return load_row<E>(p, i); }
};

/// ... or the sum of its two halves, formed while loading (loads are free beside the multiplications).
template <class E, size_t kHalf>
struct FoldedRows {
  const uint16_t* p;
  POLYKEM_INLINE E operator()(size_t i) const { return load_row<E>(p, i) + load_row<E>(p, i + kHalf); }
};

/// Schoolbook by output coefficient: both operands stay in registers, each sum is handed to sink(k, sum), k ascending.
template <class E, size_t kH, class A, class B, class Sink>
POLYKEM_INLINE void schoolbook(const A& a, const B& b, const Sink& sink) {
  E ra[kH];
  E rb[kH];
  unroll<2 * kH - 1>([&](auto k) __attribute__((always_inline)) {
    if constexpr (k < kH) {
      ra[k] = a(k);
      rb[k] = b(k);
    }
    constexpr size_t lo = k < kH ? 0 : k - kH + 1;
    constexpr size_t hi = k < kH ? k : kH - 1;
    E sum = ra[lo] * rb[k - lo];
    unroll<hi - lo>([&](auto j) __attribute__((always_inline)) { sum = sum + ra[lo + 1 + j] * rb[k - lo - 1 - j]; });
    sink(k, sum);
  });
}

/// Product of two polynomials of 2 kH coefficients, one Karatsuba level over schoolbook. Writes rows 0 .. 4 kH - 2 of
/// c. The combination with the outer products is done as each middle coefficient appears, hidden under the
/// multiplications.
template <class E, size_t kH, class A, class B>
POLYKEM_INLINE void karatsuba_leaf(uint16_t* c, const A& a, const B& b) {
  const auto high_a = [&](size_t i) __attribute__((always_inline)) {
    return a(kH + i);
  };
  const auto high_b = [&](size_t i) __attribute__((always_inline)) {
    return b(kH + i);
  };
  schoolbook<E, kH>(
      a, b, [&](size_t k, E v) __attribute__((always_inline)) { store_row(c, k, v); });
  schoolbook<E, kH>(
      high_a, high_b, [&](size_t k, E v) __attribute__((always_inline)) { store_row(c, 2 * kH + k, v); });
  const auto sum_a = [&](size_t i) __attribute__((always_inline)) {
    return a(i) + a(kH + i);
  };
  const auto sum_b = [&](size_t i) __attribute__((always_inline)) {
    return b(i) + b(kH + i);
  };
  schoolbook<E, kH>(
      sum_a, sum_b, [&](auto k, E v) __attribute__((always_inline)) {
        if constexpr (k < kH) {
          const E low = load_row<E>(c, 2 * kH + k);
          // Coefficient 2 kH - 1 of the low product is zero and was not stored.
          const E diff = k + 1 < kH ? load_row<E>(c, kH + k) - low : E::zero() - low;
          store_row(c, kH + k, v + (diff - load_row<E>(c, k)));
          store_row(c, 2 * kH + k, k + 1 < kH ? diff : low);
        } else {
          store_row(c, kH + k, (v - load_row<E>(c, kH + k)) - load_row<E>(c, 2 * kH + k));
        }
      });
}

/// c = z0 + x^h (z1 - z0 - z2) + x^2h z2 with h = kHalf; z0 and z2 lie in c at rows 0 and 2 h; row 2 h - 1 of a product
/// does not exist and is never read.
template <class E, size_t kHalf>
POLYKEM_NOINLINE void karatsuba_combine(uint16_t* c, const uint16_t* z1) {
  for (size_t i = 0; i + 1 < kHalf; ++i) {
    const E diff = load_row<E>(c, kHalf + i) - load_row<E>(c, 2 * kHalf + i);
    store_row(c, kHalf + i, load_row<E>(z1, i) + (diff - load_row<E>(c, i)));
    store_row(c, 2 * kHalf + i, (load_row<E>(z1, kHalf + i) - diff) - load_row<E>(c, 3 * kHalf + i));
  }
  store_row(c, 2 * kHalf - 1, load_row<E>(z1, kHalf - 1) - load_row<E>(c, kHalf - 1) - load_row<E>(c, 3 * kHalf - 1));
}

/// Product of two polynomials of kN coefficients, kN = 2 kH * 2^levels: Karatsuba down to leaves of 2 kH.
/// c: 2 kN rows, the last one not written. tmp: kTmpRows rows. c and tmp must not overlap a or b.
template <size_t kN, size_t kH, class E = V16>
struct Karatsuba {
  static constexpr size_t kSize = kN;
  static constexpr size_t kHalf = kN / 2;
  static constexpr bool kChildIsLeaf = kHalf == 2 * kH;
  using Child = Karatsuba<kHalf, kH, E>;
  static constexpr size_t kTmpRows = kChildIsLeaf ? kN : 2 * kN + Child::kTmpRows;

  static POLYKEM_NOINLINE void mul(uint16_t* c, const uint16_t* a, const uint16_t* b, uint16_t* tmp) {
    Child::mul(c, a, b, tmp);
    Child::mul(c + kN * E::kRowWords, a + kHalf * E::kRowWords, b + kHalf * E::kRowWords, tmp);
    if constexpr (kChildIsLeaf) {
      Child::mul_folded(tmp, a, b);
      karatsuba_combine<E, kHalf>(c, tmp);
    } else {
      uint16_t* sums = tmp;
      uint16_t* z1 = tmp + kN * E::kRowWords;
      for (size_t i = 0; i < kHalf; ++i) {
        store_row(sums, i, load_row<E>(a, i) + load_row<E>(a, kHalf + i));
        store_row(sums, kHalf + i, load_row<E>(b, i) + load_row<E>(b, kHalf + i));
      }
      Child::mul(z1, sums, sums + kHalf * E::kRowWords, z1 + kN * E::kRowWords);
      karatsuba_combine<E, kHalf>(c, z1);
    }
  }
};

template <size_t kN, size_t kH, class E>
requires(kN == 2 * kH) struct Karatsuba<kN, kH, E> {
  static constexpr size_t kSize = kN;
  static constexpr size_t kTmpRows = 0;

  static POLYKEM_NOINLINE void mul(uint16_t* c, const uint16_t* a, const uint16_t* b, uint16_t*) {
    karatsuba_leaf<E, kH>(c, Rows<E>{a}, Rows<E>{b});
  }
  /// Product of (low + high) halves of two polynomials of 2 kN coefficients.
  static POLYKEM_NOINLINE void mul_folded(uint16_t* c, const uint16_t* a, const uint16_t* b) {
    karatsuba_leaf<E, kH>(c, FoldedRows<E, kN>{a}, FoldedRows<E, kN>{b});
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::polymul
