// SPDX-License-Identifier: Apache-2.0
// Division steps for 1/a mod (2, Phi_n) and mod (3, Phi_n), Phi_n = 1 + x + ... + x^(n-1). One warp inverts one
// polynomial. The code aims at the latency of few inversions, not at the throughput of many. The number of steps is
// fixed and every choice is a mask. [BY19, 5]
//
//   (f, g, v, w) <- swap ? (g, (g - c f) / x, w, (w - c v) / x) : (f, (g - c f) / x, v, (w - c v) / x),  c = f(0) g(0).
//
// Rows (f, v) and (g, w) may be scaled by -1 at will, because the result is v / f(0); so a step needs no negation.
//
// f and v share one string of coefficients, g and w another, and a step treats both halves alike: f and g hold the
// coefficients of 1, x, .. from the lower end up, v and w those of 1, 1/x, .. from the upper end down. With r steps to
// go, v and w have reached down to coefficient r + 1, and f and g reach up to r at most: their degree is at most (r +
// |delta|) / 2, and |delta| <= r since delta ends at 0 where there is an inverse.
#pragma once

#include <cstdint>

namespace polykem::cuda {

/// The layout of a string in a warp. A lane holds kOwn bits of its own and a copy of the next kAhead bits, which
/// belong to its upper neighbour. Each step uses up one of those, so that kAhead steps need nothing from other lanes.
template <int kN>
struct DivstepShape {
  static constexpr int kSteps = 2 * (kN - 1) - 1;
  static constexpr int kBits = kSteps + 2;
  static constexpr int kMinAhead = 8;
  static constexpr int kOwn = (kBits + 31) / 32;
  static constexpr int kWords = (kOwn + kMinAhead + 31) / 32;  ///< the words of a lane
  static constexpr int kAhead = 32 * kWords - kOwn;
  static constexpr int kStringWords = 31 * kOwn / 32 + kWords + 1;  ///< words of the bits in order, zeros after them
  static constexpr int kResult = 2;  ///< where v begins at the end, with coefficient n - 2 of the inverse
  static_assert(kMinAhead <= kAhead && kAhead <= 32 && 32 <= kOwn && kN < 32 * kStringWords);
};

/// One bit of every coefficient of a string.
template <class Shape>
struct BitPlane {
  uint32_t words[Shape::kWords];
  uint32_t low;  ///< the string's first 32 bits, the first one at the top: they decide the steps

  __device__ __forceinline__ void look_ahead(unsigned lane) {
    constexpr int kLast = Shape::kWords - 1, kOwnOfLast = Shape::kOwn - 32 * kLast;
    uint32_t next = __shfl_down_sync(0xffffffff, words[0], 1);
    if (lane == 31) next = 0;
    words[kLast] = (words[kLast] & ((1u << kOwnOfLast) - 1)) | (next << kOwnOfLast);
    low = __brev(__shfl_sync(0xffffffff, words[0], 0));
  }

  __device__ __forceinline__ void over_x() {
#pragma unroll
    for (int k = 0; k + 1 < Shape::kWords; ++k)
      words[k] = __funnelshift_r(words[k], words[k + 1], 1);
    words[Shape::kWords - 1] >>= 1;
    low <<= 1;
  }
};

/// Returns all ones if the string's first bit is set.
__device__ __forceinline__ uint32_t first_bit(uint32_t low) {
  return static_cast<uint32_t>(static_cast<int>(low) >> 31);
}

/// Minus the division step's counter.
struct StepCounter {
  int minus_delta = -1;

  /// Advances the counter. Returns all ones if the step swaps. [BY19, 3]
  __device__ __forceinline__ uint32_t step(uint32_t g_nonzero) {
    const uint32_t swap = static_cast<uint32_t>(minus_delta >> 31) & g_nonzero;
    minus_delta = (minus_delta ^ static_cast<int>(swap)) - static_cast<int>(swap) - 1;
    return swap;
  }
};

__device__ __forceinline__ uint32_t select(uint32_t mask, uint32_t yes, uint32_t no) {
  return (yes & mask) | (no & ~mask);
}

/// The strings of (f, v) and (g, w) over GF(2).
template <class Shape>
struct DivstepsMod2 {
  BitPlane<Shape> f, g;
  StepCounter counter;

  __device__ __forceinline__ void look_ahead(unsigned lane) {
    f.look_ahead(lane);
    g.look_ahead(lane);
  }

  __device__ __forceinline__ void step() {
    const uint32_t c = first_bit(g.low), swap = counter.step(c);
    const auto combine = [c, swap](uint32_t& a, uint32_t& b) {
      const uint32_t sum = b ^ (a & c);
      a = select(swap, b, a);
      b = sum;
    };
#pragma unroll
    for (int k = 0; k < Shape::kWords; ++k)
      combine(f.words[k], g.words[k]);
    combine(f.low, g.low);
    g.over_x();
  }
};

/// The strings of (f, v) and (g, w) over GF(3). A coefficient is a bit `nonzero` and a bit `minus`, which has no
/// meaning where nonzero is 0.
template <class Shape>
struct DivstepsMod3 {
  BitPlane<Shape> f_nonzero, f_minus, g_nonzero, g_minus;
  StepCounter counter;

  __device__ __forceinline__ void look_ahead(unsigned lane) {
    f_nonzero.look_ahead(lane);
    f_minus.look_ahead(lane);
    g_nonzero.look_ahead(lane);
    g_minus.look_ahead(lane);
  }

  /// Computes a step. f(0) is never 0.
  __device__ __forceinline__ void step() {
    const uint32_t nonzero = first_bit(g_nonzero.low), plus = ~first_bit(f_minus.low ^ g_minus.low);
    const uint32_t swap = counter.step(nonzero);
    const auto combine = [nonzero, plus, swap](uint32_t& a_nonzero, uint32_t& a_minus, uint32_t& b_nonzero,
                                               uint32_t& b_minus) {
      // b becomes b - c a. Where both terms are nonzero, `same` says that their signs agree; where only a's is nonzero,
      // that they do not.
      const uint32_t added = a_nonzero & nonzero, same = (a_minus ^ plus) ^ b_minus ^ b_nonzero;
      a_nonzero = select(swap, b_nonzero, a_nonzero);
      a_minus = select(swap, b_minus, a_minus);
      b_nonzero = select(b_nonzero, ~added | same, added);
      b_minus ^= added & same;
    };
#pragma unroll
    for (int k = 0; k < Shape::kWords; ++k)
      combine(f_nonzero.words[k], f_minus.words[k], g_nonzero.words[k], g_minus.words[k]);
    combine(f_nonzero.low, f_minus.low, g_nonzero.low, g_minus.low);
    g_nonzero.over_x();
    g_minus.over_x();
  }
};

template <class Shape, class State>
__device__ __forceinline__ void run_steps(State& state, unsigned lane) {
#pragma unroll 1
  for (int block = 0; block < Shape::kSteps / Shape::kAhead; ++block) {
    state.look_ahead(lane);
#pragma unroll
    for (int step = 0; step < Shape::kAhead; ++step)
      state.step();
  }
  state.look_ahead(lane);
#pragma unroll
  for (int step = 0; step < Shape::kSteps % Shape::kAhead; ++step)
    state.step();
}

/// Spreads a string over the lanes. It calls bit(j) for each bit; neighbouring lanes ask for neighbouring j. words:
/// kStringWords words of the warp's shared memory.
template <class Shape, class Bit>
__device__ __forceinline__ void gather(BitPlane<Shape>& plane, uint32_t* words, unsigned lane, Bit bit) {
  __syncwarp();
#pragma unroll
  for (int k = 0; k < Shape::kStringWords; ++k) {
    const uint32_t word = __ballot_sync(0xffffffff, bit(32 * k + static_cast<int>(lane)));
    if (lane == 0) words[k] = word;
  }
  __syncwarp();
  const unsigned first = lane * Shape::kOwn;
#pragma unroll
  for (int k = 0; k < Shape::kWords; ++k)
    plane.words[k] = __funnelshift_r(words[first / 32 + k], words[first / 32 + k + 1], first % 32);
}

/// Returns bit j of a string. Each lane may choose its j; all lanes must call.
template <class Shape>
__device__ __forceinline__ uint32_t bit_of(const BitPlane<Shape>& plane, int j) {
  const int owner = j / Shape::kOwn, at = j % Shape::kOwn;
  uint32_t result = 0;
#pragma unroll
  for (int k = 0; k < Shape::kWords; ++k) {
    const uint32_t word = __shfl_sync(0xffffffff, plane.words[k], owner);
    if (at / 32 == k) result = word;
  }
  return (result >> (at % 32)) & 1;
}

/// Computes 1/a mod (2, Phi_n). odd(i): whether coefficient i of a is odd, 0 <= i < n - 1. put(i, b) receives
/// coefficient i of 1/a; lanes call it in the same order. words: as for gather().
template <int kN, class Odd, class Put>
__device__ __forceinline__ void invert_mod2(uint32_t* words, unsigned lane, Odd odd, Put put) {
  using Shape = DivstepShape<kN>;
  DivstepsMod2<Shape> state;
  gather(state.f, words, lane, [](int j) { return j < kN; });
  gather(state.g, words, lane, [&](int j) { return j < kN - 1 ? odd(kN - 2 - j) : j == Shape::kBits - 1; });
  run_steps<Shape>(state, lane);
#pragma unroll 4
  for (int first = 0; first < kN - 1; first += 32) {
    const int i = first + static_cast<int>(lane);
    const uint32_t b = bit_of(state.f, i < kN - 1 ? Shape::kResult + kN - 2 - i : 0);
    if (i < kN - 1) put(i, b);
  }
}

/// Computes 1/a mod (3, Phi_n). nonzero(i), minus(i): whether coefficient i of a is not 0, whether it is 2. put(i, b)
/// receives coefficient i of 1/a, 0 to 2. words: as for gather().
template <int kN, class Nonzero, class Minus, class Put>
__device__ __forceinline__ void invert_mod3(uint32_t* words, unsigned lane, Nonzero nonzero, Minus minus, Put put) {
  using Shape = DivstepShape<kN>;
  DivstepsMod3<Shape> state;
  const auto none = [](int) { return false; };
  gather(state.f_nonzero, words, lane, [](int j) { return j < kN; });
  gather(state.f_minus, words, lane, none);
  gather(state.g_nonzero, words, lane, [&](int j) { return j < kN - 1 ? nonzero(kN - 2 - j) : j == Shape::kBits - 1; });
  gather(state.g_minus, words, lane, [&](int j) { return j < kN - 1 && minus(kN - 2 - j); });
  run_steps<Shape>(state, lane);
  const uint32_t negate = __shfl_sync(0xffffffff, state.f_minus.words[0], 0) & 1;
#pragma unroll 4
  for (int first = 0; first < kN - 1; first += 32) {
    const int i = first + static_cast<int>(lane);
    const int j = i < kN - 1 ? Shape::kResult + kN - 2 - i : 0;
    const uint32_t b = bit_of(state.f_nonzero, j), sign = bit_of(state.f_minus, j) ^ negate;
    if (i < kN - 1) put(i, b + (b & sign));
  }
}

}  // namespace polykem::cuda
