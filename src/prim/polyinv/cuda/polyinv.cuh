// SPDX-License-Identifier: Apache-2.0
// Division steps for 1/a mod (2, Phi_n) and mod (3, Phi_n), Phi_n = 1 + x + ... + x^(n-1), several polynomials a warp:
// each takes kLanes neighbouring lanes, which hold its words in registers. The number of steps is fixed and every
// choice is a mask. [BY19, 5]
//
// Rows (g, w) may be scaled by -1 at will, because the result is v / f(0); so a step needs no negation:
//   v <- x v;  (f, g, v, w) <- swap ? (g, g - c f, w, w - c v) : (f, g - c f, v, w - c v),  c = f(0) g(0);  g <- g / x.
//
// After s steps v and w have s + 1 coefficients at most, and with r steps to go only the lowest r + 1 of f and g
// matter. So the steps run in phases, and each phase keeps only the words that it needs.
#pragma once

#include <cstdint>

namespace polykem::cuda {

/// How one polynomial is spread: bit i is bit i % 32 of word i / 32; with W words a lane, word k is in lane k / W.
template <int kN, int kLanesPerItem>
struct InverseShape {
  static constexpr int kLanes = kLanesPerItem;
  static constexpr int kAllWords = (kN + 31) / 32;
  static constexpr int kWords = (kAllWords + kLanes - 1) / kLanes;  ///< of a lane, for a whole polynomial
  static constexpr int kItems = 32 / kLanes;                        ///< polynomials a warp
  static constexpr int kSteps = 2 * (kN - 1) - 1;
  static constexpr int kPhases = 8;

  static constexpr int words_for(int bits) {
    const int words = (bits + 31) / 32;
    return ((words < kAllWords ? words : kAllWords) + kLanes - 1) / kLanes;
  }
  static constexpr int begin(int phase) { return kSteps * phase / kPhases; }
  /// Words a lane of f and g, and of v and w, in a phase.
  static constexpr int fg_words(int phase) { return words_for(kSteps - begin(phase) + 1); }
  static constexpr int vw_words(int phase) { return words_for(begin(phase + 1) + 1); }
};

/// Word k of Phi_n.
template <int kN>
__device__ __forceinline__ uint32_t phi_word(int k) {
  const int left = kN - 32 * k;
  return left >= 32 ? 0xffffffffu : left > 0 ? (1u << left) - 1 : 0u;
}

/// Spreads kFrom words a lane anew as kTo words a lane; words that no lane had are 0.
template <int kFrom, int kTo, class Shape>
__device__ __forceinline__ void spread(uint32_t (&x)[Shape::kWords], unsigned lane) {
  if constexpr (kFrom != kTo) {
    const int part = static_cast<int>(lane % Shape::kLanes);
    uint32_t y[kTo];
#pragma unroll
    for (int j = 0; j < kTo; ++j) {
      const int word = part * kTo + j, owner = word / kFrom;
      y[j] = 0;
#pragma unroll
      for (int r = 0; r < kFrom; ++r) {
        const uint32_t value = __shfl_sync(0xffffffff, x[r], owner, Shape::kLanes);
        if (owner < Shape::kLanes && word % kFrom == r) y[j] = value;
      }
    }
#pragma unroll
    for (int j = 0; j < kTo; ++j)
      x[j] = y[j];
  }
}

template <int kUsed, class Shape>
__device__ __forceinline__ void times_x(uint32_t (&v)[Shape::kWords], bool first_lane) {
  uint32_t carry = __shfl_up_sync(0xffffffff, v[kUsed - 1], 1, Shape::kLanes);
  if (first_lane) carry = 0;
#pragma unroll
  for (int j = kUsed - 1; j > 0; --j)
    v[j] = __funnelshift_l(v[j - 1], v[j], 1);
  v[0] = __funnelshift_l(carry, v[0], 1);
}

template <int kUsed, class Shape>
__device__ __forceinline__ void over_x(uint32_t (&g)[Shape::kWords], bool last_lane) {
  uint32_t carry = __shfl_down_sync(0xffffffff, g[0], 1, Shape::kLanes);
  if (last_lane) carry = 0;
#pragma unroll
  for (int j = 0; j + 1 < kUsed; ++j)
    g[j] = __funnelshift_r(g[j], g[j + 1], 1);
  g[kUsed - 1] = __funnelshift_r(g[kUsed - 1], carry, 1);
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

/// Polynomials over GF(2) in flight.
template <int kN, class Shape>
struct DivstepsMod2 {
  uint32_t f[Shape::kWords], g[Shape::kWords], v[Shape::kWords], w[Shape::kWords];
  int delta = 1;

  /// g is set already.
  __device__ __forceinline__ void start(unsigned lane) {
    const int part = static_cast<int>(lane % Shape::kLanes);
#pragma unroll
    for (int j = 0; j < Shape::kWords; ++j) {
      f[j] = phi_word<kN>(part * Shape::kWords + j);
      v[j] = w[j] = 0;
    }
    if (part == 0) w[0] = 1;
  }

  template <int kFromFg, int kToFg, int kFromVw, int kToVw>
  __device__ __forceinline__ void resize(unsigned lane) {
    spread<kFromFg, kToFg, Shape>(f, lane);
    spread<kFromFg, kToFg, Shape>(g, lane);
    spread<kFromVw, kToVw, Shape>(v, lane);
    spread<kFromVw, kToVw, Shape>(w, lane);
  }

  template <int kFg, int kVw>
  __device__ __forceinline__ void step(bool first, bool last) {
    const uint32_t low = __shfl_sync(0xffffffff, g[0], 0, Shape::kLanes);
    const uint32_t nonzero = 0u - (low & 1);
    times_x<kVw, Shape>(v, first);
    const uint32_t swap = step_delta(delta, nonzero);
#pragma unroll
    for (int j = 0; j < kFg; ++j) {
      const uint32_t next = g[j] ^ (f[j] & nonzero);
      f[j] = select(swap, g[j], f[j]);
      g[j] = next;
    }
#pragma unroll
    for (int j = 0; j < kVw; ++j) {
      const uint32_t next = w[j] ^ (v[j] & nonzero);
      v[j] = select(swap, w[j], v[j]);
      w[j] = next;
    }
    over_x<kFg, Shape>(g, last);
  }
};

/// a + b over GF(3). A coefficient is a bit `nonzero` and a bit `minus`, which is 0 where nonzero is 0: 0 = (0,0),
/// 1 = (1,0), 2 = (1,1).
__device__ __forceinline__ void add_trits(uint32_t& a_nonzero, uint32_t& a_minus, uint32_t b_nonzero,
                                          uint32_t b_minus) {
  const uint32_t both = a_nonzero & b_nonzero, differ = a_minus ^ b_minus;
  const uint32_t minus = both ^ (a_minus | b_minus);
  a_nonzero = (a_nonzero ^ b_nonzero) | (both & ~differ);
  a_minus = minus;
}

/// Polynomials over GF(3) in flight, two words for 32 coefficients.
template <int kN, class Shape>
struct DivstepsMod3 {
  using Words = uint32_t[Shape::kWords];
  Words f_nonzero, f_minus, g_nonzero, g_minus, v_nonzero, v_minus, w_nonzero, w_minus;
  int delta = 1;

  /// g is set already.
  __device__ __forceinline__ void start(unsigned lane) {
    const int part = static_cast<int>(lane % Shape::kLanes);
#pragma unroll
    for (int j = 0; j < Shape::kWords; ++j) {
      f_nonzero[j] = phi_word<kN>(part * Shape::kWords + j);
      f_minus[j] = v_nonzero[j] = v_minus[j] = w_nonzero[j] = w_minus[j] = 0;
    }
    if (part == 0) w_nonzero[0] = 1;
  }

  template <int kFromFg, int kToFg, int kFromVw, int kToVw>
  __device__ __forceinline__ void resize(unsigned lane) {
    spread<kFromFg, kToFg, Shape>(f_nonzero, lane);
    spread<kFromFg, kToFg, Shape>(f_minus, lane);
    spread<kFromFg, kToFg, Shape>(g_nonzero, lane);
    spread<kFromFg, kToFg, Shape>(g_minus, lane);
    spread<kFromVw, kToVw, Shape>(v_nonzero, lane);
    spread<kFromVw, kToVw, Shape>(v_minus, lane);
    spread<kFromVw, kToVw, Shape>(w_nonzero, lane);
    spread<kFromVw, kToVw, Shape>(w_minus, lane);
  }

  template <int kFg, int kVw>
  __device__ __forceinline__ void step(bool first, bool last) {
    // The sign of c = f(0) g(0), or 0; f(0) is never 0.
    const uint32_t lowest = (g_nonzero[0] & 1) | (((g_minus[0] ^ f_minus[0]) & 1) << 1);
    const uint32_t low = __shfl_sync(0xffffffff, lowest, 0, Shape::kLanes);
    const uint32_t nonzero = 0u - (low & 1), flip = (low >> 1) - 1;  // c = 1: subtract
    times_x<kVw, Shape>(v_nonzero, first);
    times_x<kVw, Shape>(v_minus, first);
    const uint32_t swap = step_delta(delta, nonzero);
    combine<kFg>(f_nonzero, f_minus, g_nonzero, g_minus, nonzero, flip, swap);
    combine<kVw>(v_nonzero, v_minus, w_nonzero, w_minus, nonzero, flip, swap);
    over_x<kFg, Shape>(g_nonzero, last);
    over_x<kFg, Shape>(g_minus, last);
  }

 private:
  /// (a, b) <- swap ? (b, b - c a) : (a, b - c a).
  template <int kUsed>
  __device__ __forceinline__ static void combine(Words& a0, Words& a1, Words& b0, Words& b1, uint32_t nonzero,
                                                 uint32_t flip, uint32_t swap) {
#pragma unroll
    for (int j = 0; j < kUsed; ++j) {
      const uint32_t scaled0 = a0[j] & nonzero, scaled1 = (a1[j] ^ flip) & scaled0;
      a0[j] = select(swap, b0[j], a0[j]);
      a1[j] = select(swap, b1[j], a1[j]);
      add_trits(b0[j], b1[j], scaled0, scaled1);
    }
  }
};

/// All steps of phase kPhase and of those behind it. Before phase 0 f and g have all their words, v and w too.
template <int kPhase, class Shape, class State>
__device__ __forceinline__ void run_phases(State& state, unsigned lane) {
  if constexpr (kPhase < Shape::kPhases) {
    constexpr int kFg = Shape::fg_words(kPhase), kVw = Shape::vw_words(kPhase);
    constexpr int kFromFg = kPhase == 0 ? Shape::kWords : Shape::fg_words(kPhase - 1);
    constexpr int kFromVw = kPhase == 0 ? Shape::kWords : Shape::vw_words(kPhase - 1);
    const int part = static_cast<int>(lane % Shape::kLanes);
    state.template resize<kFromFg, kFg, kFromVw, kVw>(lane);
#pragma unroll 1
    for (int step = Shape::begin(kPhase); step < Shape::begin(kPhase + 1); ++step) {
      state.template step<kFg, kVw>(part == 0, part == Shape::kLanes - 1);
    }
    run_phases<kPhase + 1, Shape>(state, lane);
  }
}

/// v: the reversed inverse mod 2. On entry g holds a reversed: bit n - 2 - i is coefficient i.
template <int kN, class Shape>
__device__ __forceinline__ void invert_mod2(DivstepsMod2<kN, Shape>& state, unsigned lane) {
  static_assert(Shape::vw_words(Shape::kPhases - 1) == Shape::kWords);
  state.start(lane);
  run_phases<0, Shape>(state, lane);
}

/// v: the reversed inverse mod 3, still to be divided by f(0): the result is all ones if that is -1. g as for mod 2.
template <int kN, class Shape>
__device__ __forceinline__ uint32_t invert_mod3(DivstepsMod3<kN, Shape>& state, unsigned lane) {
  static_assert(Shape::vw_words(Shape::kPhases - 1) == Shape::kWords);
  state.start(lane);
  run_phases<0, Shape>(state, lane);
  return 0u - (__shfl_sync(0xffffffff, state.f_minus[0], 0, Shape::kLanes) & 1);
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

/// The other way round, for two bits a coefficient: put(item, i, first, second) for 0 <= i < n - 1.
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
