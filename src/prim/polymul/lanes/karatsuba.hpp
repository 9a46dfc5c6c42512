// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/unroll.hpp"
#include "prim/simd/vec16.hpp"

/// Linear products of short polynomials over a ring of lanes E (V16: integers modulo 2^16, one item per lane; Gf3: bit
/// sliced). A polynomial of k coefficients is k rows of E::kRowWords words. Nothing is divided, so results are exact in
/// E.
namespace polykem::polymul {
inline namespace POLYKEM_ISA {

using simd::V16;
constexpr size_t kLanes = V16::kLanes;

template <class E = V16>
POLYKEM_INLINE E load_row(const uint16_t* p, size_t row) {
  return E::load(p + row * E::kRowWords);
}
template <class E>
POLYKEM_INLINE void store_row(uint16_t* p, size_t row, E v) {
  v.store(p + row * E::kRowWords);
}

/// A polynomial that the leaf kernels read from its rows in memory.
template <class E>
struct Rows {
  const uint16_t* p;
  POLYKEM_INLINE E operator()(size_t i) const { return load_row<E>(p, i); }
};

/// A polynomial that the leaf kernels read as the sum of the two halves of another one, formed while loading (the loads
/// are hidden by the multiplications).
template <class E, size_t kHalf>
struct FoldedRows {
  const uint16_t* p;
  POLYKEM_INLINE E operator()(size_t i) const { return load_row<E>(p, i) + load_row<E>(p, i + kHalf); }
};

/// Makes the compiler load stored values again instead of keeping them in registers: there are too few, and it would
/// spill values that are already in memory.
POLYKEM_INLINE void compiler_barrier() {
  asm volatile("" : : : "memory");
}

/// The Emit with which a block stores its coefficients in its own rows. With any other callable f, it passes them to
/// f(k, value), k ascending.
struct InPlace {};

/// Multiplies by the schoolbook method, one coefficient of the product after the other: both operands stay in
/// registers.
template <class E, size_t kN, class A, class B, class Emit>
POLYKEM_INLINE void schoolbook(uint16_t* t, const A& a, const B& b, const Emit& emit) {
  E ra[kN];
  E rb[kN];
  unroll<2 * kN - 1>([&](auto k) __attribute__((always_inline)) {
    if constexpr (k < kN) {
      ra[k] = a(k);
      rb[k] = b(k);
    }
    constexpr size_t lo = k < kN ? 0 : k - kN + 1;
    constexpr size_t hi = k < kN ? k : kN - 1;
    E sum = ra[lo] * rb[k - lo];
    unroll<hi - lo>([&](auto j) __attribute__((always_inline)) { sum = sum + ra[lo + 1 + j] * rb[k - lo - 1 - j]; });
    if constexpr (std::is_same_v<Emit, InPlace>) {
      store_row(t, k, sum);
    } else {
      emit(k, sum);
    }
  });
}

/// Multiplies two polynomials of kN coefficients in straight-line code: kDepth Karatsuba levels over schoolbook(), with
/// halves of low = ceil(kN / 2) and high = floor(kN / 2). `t` has 2 kN rows, which hold the product (2 kN - 1 rows) if
/// Emit is InPlace; `scratch` has 2 kN rows unless kDepth is 0. A middle coefficient is combined as soon as the product
/// of the sums yields it, so that multiplications hide the loads and stores.
template <class E, size_t kN, size_t kDepth, class A, class B, class Emit>
POLYKEM_INLINE void karatsuba_block(uint16_t* t, uint16_t* scratch, const A& a, const B& b, const Emit& emit) {
  if constexpr (kDepth == 0) {
    schoolbook<E, kN>(t, a, b, emit);
  } else {
    constexpr size_t kLow = (kN + 1) / 2;
    constexpr size_t kHigh = kN / 2;
    constexpr bool kInPlace = std::is_same_v<Emit, InPlace>;
    uint16_t* high = t + 2 * kLow * E::kRowWords;
    const auto high_a = [&](size_t i) __attribute__((always_inline)) {
      return a(kLow + i);
    };
    const auto high_b = [&](size_t i) __attribute__((always_inline)) {
      return b(kLow + i);
    };
    const auto sum_a = [&](size_t i) __attribute__((always_inline)) {
      return i < kHigh ? a(i) + a(kLow + i) : a(i);
    };
    const auto sum_b = [&](size_t i) __attribute__((always_inline)) {
      return i < kHigh ? b(i) + b(kLow + i) : b(i);
    };
    karatsuba_block<E, kLow, kDepth - 1>(t, scratch, a, b, InPlace{});
    karatsuba_block<E, kHigh, kDepth - 1>(high, scratch, high_a, high_b, InPlace{});
    compiler_barrier();
    if constexpr (!kInPlace) {
      unroll<kLow>([&](auto k) __attribute__((always_inline)) { emit(k, load_row<E>(t, k)); });
    }
    const auto combine = [&](auto k, E v) __attribute__((always_inline)) {
      // v is coefficient k of the product of the sums; coefficients 2 kLow - 1 and 2 kHigh - 1 .. do not exist.
      if constexpr (k < kLow) {
        E diff = k + 1 < kLow ? load_row<E>(t, kLow + k) : E::zero();
        if (k + 1 < 2 * kHigh) diff = diff - load_row<E>(high, k);
        v = v + (diff - load_row<E>(t, k));
        if (k + 1 < kLow) store_row(high, k, diff);
      } else {
        v = v - load_row<E>(high, k - kLow);
        if (k + 1 < 2 * kHigh) v = v - load_row<E>(high, k);
      }
      if constexpr (kInPlace) {
        store_row(t, kLow + k, v);
      } else {
        emit(std::integral_constant<size_t, kLow + k>{}, v);
      }
    };
    karatsuba_block<E, kLow, kDepth - 1>(scratch, scratch + 2 * kLow * E::kRowWords, sum_a, sum_b, combine);
    compiler_barrier();
    if constexpr (!kInPlace && 2 * kN > 3 * kLow) {
      unroll<2 * kN - 3 * kLow>([&](auto j) __attribute__((always_inline)) {
        emit(std::integral_constant<size_t, 3 * kLow - 1 + j>{}, load_row<E>(high, kLow - 1 + j));
      });
    }
  }
}

/// Sets c to z0 + x^h (z1 - z0 - z2) + x^2h z2 with h = kHalf. z0 and z2 lie in c at rows 0 and 2 h; row 2 h - 1 of a
/// product does not exist and is never read.
template <class E, size_t kHalf>
POLYKEM_NOINLINE void karatsuba_combine(uint16_t* c, const uint16_t* z1) {
  for (size_t i = 0; i + 1 < kHalf; ++i) {
    const E diff = load_row<E>(c, kHalf + i) - load_row<E>(c, 2 * kHalf + i);
    store_row(c, kHalf + i, load_row<E>(z1, i) + (diff - load_row<E>(c, i)));
    store_row(c, 2 * kHalf + i, (load_row<E>(z1, kHalf + i) - diff) - load_row<E>(c, 3 * kHalf + i));
  }
  store_row(c, 2 * kHalf - 1, load_row<E>(z1, kHalf - 1) - load_row<E>(c, kHalf - 1) - load_row<E>(c, 3 * kHalf - 1));
}

/// Multiplies two polynomials of kN = 2^levels * kLeaf coefficients: Karatsuba levels with loops, then straight-line
/// leaves that are kDepth levels deep. `c` has 2 kN rows, the last of which is not written, and `tmp` kTmpRows rows. c
/// and tmp must not overlap a, b.
template <size_t kN, size_t kLeaf, size_t kDepth, class E = V16>
struct Karatsuba {
  static_assert(kN % 2 == 0);
  static constexpr size_t kSize = kN;
  static constexpr size_t kHalf = kN / 2;
  static constexpr bool kChildIsLeaf = kHalf == kLeaf;
  using Child = Karatsuba<kHalf, kLeaf, kDepth, E>;
  static constexpr size_t kTmpRows = kChildIsLeaf ? kN + Child::kTmpRows : 2 * kN + Child::kTmpRows;

  static POLYKEM_NOINLINE void mul(uint16_t* c, const uint16_t* a, const uint16_t* b, uint16_t* tmp) {
    Child::mul(c, a, b, tmp);
    Child::mul(c + kN * E::kRowWords, a + kHalf * E::kRowWords, b + kHalf * E::kRowWords, tmp);
    if constexpr (kChildIsLeaf) {
      Child::mul_folded(tmp, a, b, tmp + kN * E::kRowWords);
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

template <size_t kN, size_t kLeaf, size_t kDepth, class E>
requires(kN == kLeaf) struct Karatsuba<kN, kLeaf, kDepth, E> {
  static constexpr size_t kSize = kN;
  static constexpr size_t kTmpRows = 2 * kN;

  static POLYKEM_NOINLINE void mul(uint16_t* c, const uint16_t* a, const uint16_t* b, uint16_t* tmp) {
    karatsuba_block<E, kN, kDepth>(c, tmp, Rows<E>{a}, Rows<E>{b}, InPlace{});
  }
  /// Multiplies the sums low + high of the halves of two polynomials of 2 kN coefficients.
  static POLYKEM_NOINLINE void mul_folded(uint16_t* c, const uint16_t* a, const uint16_t* b, uint16_t* tmp) {
    karatsuba_block<E, kN, kDepth>(c, tmp, FoldedRows<E, kN>{a}, FoldedRows<E, kN>{b}, InPlace{});
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::polymul
