// SPDX-License-Identifier: Apache-2.0
// Division steps for 1/a mod (2, Phi_n) and mod (3, Phi_n), Phi_n = 1 + x + ... + x^(n-1), several polynomials a warp:
// each takes kLanes neighbouring lanes, each lane kWords words of every operand in registers. The number of steps is
// fixed and every choice is a mask. [BY19, 5]
//
// Rows (g, w) may be scaled by -1 at will, because the result is v / f(0); so a step needs no negation:
//   v <- x v;  (f, g, v, w) <- swap ? (g, g - c f, w, w - c v) : (f, g - c f, v, w - c v),  c = f(0) g(0);  g <- g / x.
#pragma once

#include <cstdint>

namespace polykem::cuda {

/// How one polynomial of kBits bits is spread: bit i is bit i % 32 of word i / 32, word k in lane k / kWords.
template <int kN, int kLanesPerItem>
struct InverseShape {
  static constexpr int kLanes = kLanesPerItem;
  static constexpr int kAllWords = (kN + 31) / 32;
  static constexpr int kWords = (kAllWords + kLanes - 1) / kLanes;
  static constexpr int kItems = 32 / kLanes;  ///< polynomials a warp
  static constexpr int kSteps = 2 * (kN - 1) - 1;
};

/// Word of all n ones of Phi_n.
template <int kN>
__device__ __forceinline__ uint32_t phi_word(int k) {
  const int left = kN - 32 * k;
  return left >= 32 ? 0xffffffffu : left > 0 ? (1u << left) - 1 : 0u;
}

template <class Shape>
__device__ __forceinline__ void times_x(uint32_t (&v)[Shape::kWords], bool first_lane) {
  uint32_t carry = __shfl_up_sync(0xffffffff, v[Shape::kWords - 1], 1, Shape::kLanes);
  if (first_lane) carry = 0;
#pragma unroll
  for (int j = Shape::kWords - 1; j > 0; --j)
    v[j] = __funnelshift_l(v[j - 1], v[j], 1);
  v[0] = __funnelshift_l(carry, v[0], 1);
}

template <class Shape>
__device__ __forceinline__ void over_x(uint32_t (&g)[Shape::kWords], bool last_lane) {
  uint32_t carry = __shfl_down_sync(0xffffffff, g[0], 1, Shape::kLanes);
  if (last_lane) carry = 0;
#pragma unroll
  for (int j = 0; j + 1 < Shape::kWords; ++j)
    g[j] = __funnelshift_r(g[j], g[j + 1], 1);
  g[Shape::kWords - 1] = __funnelshift_r(g[Shape::kWords - 1], carry, 1);
}

/// The division step's counter: all ones if the step swaps. [BY19, 3]
__device__ __forceinline__ uint32_t step_delta(int& delta, uint32_t g_nonzero) {
  const uint32_t swap = static_cast<uint32_t>(-delta >> 31) & g_nonzero;
  delta = (delta ^ static_cast<int>(swap)) - static_cast<int>(swap) + 1;
  return swap;
}

__device__ __forceinline__ uint32_t select(uint32_t mask, uint32_t yes, uint32_t no) {
  return (yes & mask) | (no & ~mask);
}

/// v: the reversed inverse mod 2. On entry g holds a reversed: bit n - 2 - i is coefficient i.
template <int kN, class Shape>
__device__ __forceinline__ void invert_mod2(uint32_t (&v)[Shape::kWords], uint32_t (&g)[Shape::kWords], unsigned lane) {
  constexpr int kWords = Shape::kWords;
  const int part = static_cast<int>(lane % Shape::kLanes);
  const bool first = part == 0, last = part == Shape::kLanes - 1;
  uint32_t f[kWords], w[kWords];
#pragma unroll
  for (int j = 0; j < kWords; ++j) {
    f[j] = phi_word<kN>(part * kWords + j);
    v[j] = 0;
    w[j] = 0;
  }
  if (first) w[0] = 1;
  int delta = 1;
#pragma unroll 1
  for (int step = 0; step < Shape::kSteps; ++step) {
    const uint32_t low = __shfl_sync(0xffffffff, g[0], 0, Shape::kLanes);
    const uint32_t nonzero = 0u - (low & 1);
    times_x<Shape>(v, first);
    const uint32_t swap = step_delta(delta, nonzero);
#pragma unroll
    for (int j = 0; j < kWords; ++j) {
      const uint32_t g_next = g[j] ^ (f[j] & nonzero), w_next = w[j] ^ (v[j] & nonzero);
      f[j] = select(swap, g[j], f[j]);
      v[j] = select(swap, w[j], v[j]);
      g[j] = g_next;
      w[j] = w_next;
    }
    over_x<Shape>(g, last);
  }
}

/// a + b over GF(3). A coefficient is a bit `nonzero` and a bit `minus`, which is 0 where nonzero is 0: 0 = (0,0),
/// 1 = (1,0), 2 = (1,1).
__device__ __forceinline__ void add_trits(uint32_t& a_nonzero, uint32_t& a_minus, uint32_t b_nonzero,
                                          uint32_t b_minus) {
  const uint32_t both = a_nonzero & b_nonzero, differ = a_minus ^ b_minus;
  const uint32_t minus = both ^ (a_minus | b_minus);
  a_nonzero = (a_nonzero ^ b_nonzero) | (both & ~differ);
  a_minus = minus;
}

/// v: the reversed inverse mod 3, still to be divided by f(0): `negate` is all ones if that is -1. g as for
/// invert_mod2.
template <int kN, class Shape>
__device__ __forceinline__ void invert_mod3(uint32_t (&v_nonzero)[Shape::kWords], uint32_t (&v_minus)[Shape::kWords],
                                            uint32_t (&g_nonzero)[Shape::kWords], uint32_t (&g_minus)[Shape::kWords],
                                            uint32_t& negate, unsigned lane) {
  constexpr int kWords = Shape::kWords;
  const int part = static_cast<int>(lane % Shape::kLanes);
  const bool first = part == 0, last = part == Shape::kLanes - 1;
  uint32_t f_nonzero[kWords], f_minus[kWords], w_nonzero[kWords], w_minus[kWords];
#pragma unroll
  for (int j = 0; j < kWords; ++j) {
    f_nonzero[j] = phi_word<kN>(part * kWords + j);
    f_minus[j] = v_nonzero[j] = v_minus[j] = w_nonzero[j] = w_minus[j] = 0;
  }
  if (first) w_nonzero[0] = 1;
  int delta = 1;
#pragma unroll 1
  for (int step = 0; step < Shape::kSteps; ++step) {
    // The sign of c = f(0) g(0), or 0; f(0) is never 0.
    const uint32_t lowest = (g_nonzero[0] & 1) | (((g_minus[0] ^ f_minus[0]) & 1) << 1);
    const uint32_t low = __shfl_sync(0xffffffff, lowest, 0, Shape::kLanes);
    const uint32_t nonzero = 0u - (low & 1), flip = (low >> 1) - 1;  // c = 1: subtract
    times_x<Shape>(v_nonzero, first);
    times_x<Shape>(v_minus, first);
    const uint32_t swap = step_delta(delta, nonzero);
#pragma unroll
    for (int j = 0; j < kWords; ++j) {
      const uint32_t f0 = f_nonzero[j] & nonzero, f1 = (f_minus[j] ^ flip) & f0;
      const uint32_t v0 = v_nonzero[j] & nonzero, v1 = (v_minus[j] ^ flip) & v0;
      f_nonzero[j] = select(swap, g_nonzero[j], f_nonzero[j]);
      f_minus[j] = select(swap, g_minus[j], f_minus[j]);
      v_nonzero[j] = select(swap, w_nonzero[j], v_nonzero[j]);
      v_minus[j] = select(swap, w_minus[j], v_minus[j]);
      add_trits(g_nonzero[j], g_minus[j], f0, f1);
      add_trits(w_nonzero[j], w_minus[j], v0, v1);
    }
    over_x<Shape>(g_nonzero, last);
    over_x<Shape>(g_minus, last);
  }
  negate = 0u - (__shfl_sync(0xffffffff, f_minus[0], 0, Shape::kLanes) & 1);
}

/// Spreads one bit per coefficient over the lanes: bit(item, i) is asked for 0 <= item < kItems, 0 <= i < n - 1 by the
/// lane that reads it, neighbouring lanes neighbouring i; it lands reversed, at bit n - 2 - i.
template <int kN, class Shape, class Bit>
__device__ __forceinline__ void gather_reversed(uint32_t (&out)[Shape::kWords], unsigned lane, Bit bit) {
#pragma unroll
  for (int j = 0; j < Shape::kWords; ++j)
    out[j] = 0;
#pragma unroll 1
  for (int owner = 0; owner < 32; ++owner) {
    const int item = owner / Shape::kLanes, part = owner % Shape::kLanes;
#pragma unroll
    for (int j = 0; j < Shape::kWords; ++j) {
      const int i = kN - 2 - 32 * (part * Shape::kWords + j) - static_cast<int>(lane);
      const uint32_t word = __ballot_sync(0xffffffff, i >= 0 && bit(item, i));
      if (static_cast<int>(lane) == owner) out[j] = word;
    }
  }
}

/// The other way round: put(item, i, bit) for 0 <= i < n - 1.
template <int kN, class Shape, class Put>
__device__ __forceinline__ void scatter_reversed(const uint32_t (&first)[Shape::kWords],
                                                 const uint32_t (&second)[Shape::kWords], unsigned lane, Put put) {
#pragma unroll 1
  for (int owner = 0; owner < 32; ++owner) {
    const int item = owner / Shape::kLanes, part = owner % Shape::kLanes;
#pragma unroll
    for (int j = 0; j < Shape::kWords; ++j) {
      const uint32_t a = __shfl_sync(0xffffffff, first[j], owner);
      const uint32_t b = __shfl_sync(0xffffffff, second[j], owner);
      const int i = kN - 2 - 32 * (part * Shape::kWords + j) - static_cast<int>(lane);
      if (i >= 0) put(item, i, (a >> lane) & 1, (b >> lane) & 1);
    }
  }
}

}  // namespace polykem::cuda
