// SPDX-License-Identifier: Apache-2.0
// Sampling of ternary polynomials. kSampleLanes lanes sample for one item; `lane` is one of them. Trits are bytes 0, 1,
// 2 in shared memory, kRow of them, zero from n - 1 on. [NTRU20, Sample_fg, Sample_rm]
#pragma once

#include "schemes/ntru/cuda/records.cuh"
#include "schemes/ntru/sort/cuda/sort.cuh"

namespace polykem::ntru::cuda {

/// The fewer lanes sort an item's keys, the fewer keys cross lanes; but each lane has a register for each of its keys.
template <class Set>
inline constexpr int kSampleLanes = Shape<Set>::kHps ? 16 : 32;

/// Does nothing with the words of trits of a polynomial.
struct NoTrits {
  __device__ __forceinline__ void operator()(int, uint32_t) const {}
};

/// Reduces n - 1 bytes of coins mod 3, by kLanes lanes, and calls each(w, trits) for each word w of trits. Returns the
/// union of this lane's words. coins: 4-byte aligned. [NTRU20, Ternary]
template <class Set, int kLanes = 32, class Each = NoTrits>
__device__ __forceinline__ uint32_t sample_iid(uint8_t* t, const uint8_t* coins, unsigned lane, Each each = {}) {
  using S = Shape<Set>;
  constexpr int kWords = S::kRow / 4, kCoinWords = S::kIidBytes / 4;
  const auto* in = reinterpret_cast<const uint32_t*>(coins);
  auto* out = reinterpret_cast<uint32_t*>(t);
  uint32_t any = 0;
  uint32_t x[(kWords + kLanes - 1) / kLanes] = {};  // all of them are loaded before each() may store something
  for_each_word<kCoinWords, kLanes>(lane, [&](int i, int w) { x[i] = in[w]; });
  for_each_word<kWords, kLanes>(lane, [&](int i, int w) {
    const uint32_t trits = mod3_bytes(x[i]);
    out[w] = trits;
    any |= trits;
    each(w, trits);
  });
  __syncwarp();
  return any;
}

/// Samples as sample_iid does, then flips the signs at even indices if <x a, a> < 0. [NTRU20, Ternary_Plus]
template <class Set>
__device__ __forceinline__ uint32_t sample_iid_plus(uint8_t* t, const uint8_t* coins, unsigned lane) {
  using S = Shape<Set>;
  const uint32_t any = sample_iid<Set>(t, coins, lane);
  auto* words = reinterpret_cast<uint32_t*>(t);
  static_assert(S::kRow - S::kN + 1 >= 4);  // the last word is zero
  int product = 0;
  for (int w = static_cast<int>(lane); w < S::kRow / 4 - 1; w += 32) {
    const uint32_t x = words[w], next = __funnelshift_r(x, words[w + 1], 8);
    product = __dp4a(static_cast<int>(centred_bytes(x)), static_cast<int>(centred_bytes(next)), product);
  }
  const int total = static_cast<int>(warp_sum(static_cast<uint32_t>(product)));
  const uint32_t flip = static_cast<uint32_t>(total >> 31) & 0x00ff00ff;
  for (int w = static_cast<int>(lane); w < S::kRow / 4; w += 32) {
    const uint32_t x = words[w];
    const uint32_t negated = ((x & 0x01010101) << 1) | ((x >> 1) & 0x01010101);
    words[w] = x ^ (flip & (x ^ negated));
  }
  __syncwarp();
  return any;
}

/// How the n - 1 keys of an item lie in the registers of kSampleLanes lanes while they are sorted.
template <class Set>
struct SortShape {
  static constexpr int kAll = Shape<Set>::kN - 1, kLanes = kSampleLanes<Set>;
  static constexpr int kKeys = (kAll + kLanes - 1) / kLanes;  ///< in a lane, at most
  /// An even number, since trits are stored in pairs.
  static constexpr int kRegs = [] {
    int n = kKeys;
    while (n % 2 != 0 || !polykem::cuda::merges_well(n))
      ++n;
    return n;
  }();
  /// Registers without a key hold the largest number, which odd lanes take for the complement of the smallest one.
  static constexpr int kBelow = [] {
    int n = 0;
    for (int i = kAll; i < kLanes * kRegs; ++i)
      n += i % kLanes % 2;
    return n;
  }();
  static_assert(kBelow % 2 == 0);
};

/// Samples exactly weight/2 coefficients 1 and as many 2, in an order that is decided by sorting random keys. It does
/// not matter which lane has which key, as long as the key keeps its type. coins: n - 1 little-endian words of 30 bits,
/// 4-byte aligned; one word past them is read. [NTRU20, Fixed_Type]
template <class Set>
__device__ __forceinline__ void sample_fixed_type(uint8_t* t, const uint8_t* coins, unsigned lane) {
  using S = Shape<Set>;
  using T = SortShape<Set>;
  constexpr int kRegs = T::kRegs, kLanes = T::kLanes, kStride = 30 * kLanes / 32;
  static_assert(30 * kLanes % 32 == 0);
  constexpr int kWeight = static_cast<int>(S::kParams.weight());
  const int first = static_cast<int>(lane);
  const auto* words = reinterpret_cast<const uint32_t*>(coins) + 30 * first / 32;
  const uint32_t flip = 0u - (lane & 1), sign = flip | 1;
  int32_t keys[kRegs];
#pragma unroll
  for (int r = 0; r < kRegs; ++r) {
    const int i = kLanes * r + first;
    keys[r] = 0x7fffffff;  // above every key
    if (i < T::kAll) {
      const uint32_t type = i < kWeight / 2 ? 1 : i < kWeight ? 2 : 0;
      const uint32_t random = __funnelshift_r(words[kStride * r], words[kStride * r + 1], 30 * first % 32);
      keys[r] = static_cast<int32_t>(random * (4 * sign) + (type ^ flip));
    }
  }
  polykem::cuda::warp_sort<kLanes, T::kKeys>(keys, lane);
  uint8_t* out = t + first * kRegs - T::kBelow;
#pragma unroll
  for (int r = 0; r < kRegs; r += 2) {
    // Lanes from `begin` to `end` have coefficients there; n - 1 is even, so that both keys are in or both are out.
    const int begin = (T::kBelow - r + kRegs - 1) / kRegs, end = (T::kBelow + T::kAll - r + kRegs - 1) / kRegs;
    const uint32_t both =
        __byte_perm(static_cast<uint32_t>(keys[r]), static_cast<uint32_t>(keys[r + 1]), 0x0040) & 0x0303;
    if (first >= begin && first < end) *reinterpret_cast<uint16_t*>(out + r) = static_cast<uint16_t>(both);
  }
  for (int i = T::kAll + first; i < S::kRow; i += kLanes)
    t[i] = 0;
  __syncwarp();
}

/// For HRSS, replaces the trits of m by those of m / (x - 1) mod (3, Phi_n), whose coefficients are the prefix sums of
/// 2 (m_i + m(1)). For HPS, leaves them as they are. [NTRU20, Lift]
template <class Set>
__device__ __forceinline__ void lift_quotient(uint8_t* t, unsigned lane) {
  using S = Shape<Set>;
  if constexpr (!S::kHps) {
    constexpr int kShare = (S::kN + 31) / 32;
    const int begin = static_cast<int>(lane) * kShare;
    uint32_t own = 0;
    for (int i = begin; i < begin + kShare && i < S::kN; ++i)
      own += t[i];
    const uint32_t at_one = mod3(warp_sum(own));
    uint32_t prefix =
        2 *
        (own + at_one * static_cast<uint32_t>(kShare));  // exact mod 3 for full shares; the last lane's own is unused
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      const uint32_t below = __shfl_up_sync(0xffffffff, prefix, distance);
      if (static_cast<int>(lane) >= distance) prefix += below;
    }
    uint32_t sum = __shfl_up_sync(0xffffffff, prefix, 1);
    if (lane == 0) sum = 0;
    sum = mod3(sum);
    for (int i = begin; i < begin + kShare && i < S::kN; ++i) {
      sum = mod3(sum + 2 * (t[i] + at_one));
      t[i] = static_cast<uint8_t>(sum);
    }
    __syncwarp();
  }
}

}  // namespace polykem::ntru::cuda
