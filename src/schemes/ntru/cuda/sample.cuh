// SPDX-License-Identifier: Apache-2.0
// Sampling of ternary polynomials; one warp samples for one item. Trits are bytes 0, 1, 2 in shared memory, kRow of
// them, zero from n - 1 on. [NTRU20, Sample_fg, Sample_rm]
#pragma once

#include "schemes/ntru/cuda/records.cuh"
#include "schemes/ntru/sort/cuda/sort.cuh"

namespace polykem::ntru::cuda {

/// Reduces n - 1 bytes of coins mod 3. coins: 4-byte aligned. [NTRU20, Ternary]
template <class Set>
__device__ __forceinline__ void sample_iid(uint8_t* t, const uint8_t* coins, unsigned lane) {
  using S = Shape<Set>;
  const auto* in = reinterpret_cast<const uint32_t*>(coins);
  auto* out = reinterpret_cast<uint32_t*>(t);
  for (int w = static_cast<int>(lane); w < S::kRow / 4; w += 32)
    out[w] = w < S::kIidBytes / 4 ? mod3_bytes(in[w]) : 0;
  __syncwarp();
}

/// Samples as sample_iid does, then flips the signs at even indices if <x a, a> < 0. [NTRU20, Ternary_Plus]
template <class Set>
__device__ __forceinline__ void sample_iid_plus(uint8_t* t, const uint8_t* coins, unsigned lane) {
  using S = Shape<Set>;
  sample_iid<Set>(t, coins, lane);
  int product = 0;
  for (int i = static_cast<int>(lane); i < S::kN - 1; i += 32)
    product += centred(t[i]) * centred(t[i + 1]);
  const int total = static_cast<int>(warp_sum(static_cast<uint32_t>(product)));
  const uint32_t flip = static_cast<uint32_t>(total >> 31) & 0x00ff00ff;
  auto* words = reinterpret_cast<uint32_t*>(t);
  for (int w = static_cast<int>(lane); w < S::kRow / 4; w += 32) {
    const uint32_t x = words[w];
    const uint32_t negated = ((x & 0x01010101) << 1) | ((x >> 1) & 0x01010101);
    words[w] = x ^ (flip & (x ^ negated));
  }
  __syncwarp();
}

/// Returns the number of keys that a lane holds while a warp sorts n - 1 of them. It is a multiple of 8, so that
/// merging stays cheap.
template <class Set>
__host__ __device__ constexpr int sort_registers() {
  return (Shape<Set>::kN - 1 + 255) / 256 * 8;
}

/// Samples exactly weight/2 coefficients 1 and as many 2, in an order that is decided by sorting random keys. It does
/// not matter which lane has which key, as long as the key keeps its type. coins: n - 1 little-endian words of 30 bits,
/// 4-byte aligned; one word past them is read. [NTRU20, Fixed_Type]
template <class Set>
__device__ __forceinline__ void sample_fixed_type(uint8_t* t, const uint8_t* coins, unsigned lane) {
  using S = Shape<Set>;
  constexpr int kRegs = sort_registers<Set>();
  static_assert(32 * kRegs >= S::kRow);
  constexpr int kWeight = static_cast<int>(S::kParams.weight());
  const auto* words = reinterpret_cast<const uint32_t*>(coins);
  int32_t keys[kRegs];
#pragma unroll
  for (int r = 0; r < kRegs; ++r) {
    const int i = 32 * r + static_cast<int>(lane);
    keys[r] = 0x7fffffff;  // above every key
    if (i < S::kN - 1) {
      const int bit = 30 * i;
      const uint32_t type = i < kWeight / 2 ? 1 : i < kWeight ? 2 : 0;
      keys[r] = static_cast<int32_t>((__funnelshift_r(words[bit / 32], words[bit / 32 + 1], bit % 32) << 2) | type);
    }
  }
  polykem::cuda::warp_sort(keys, lane);
  auto* out = reinterpret_cast<uint16_t*>(t);
#pragma unroll
  for (int r = 0; r < kRegs; r += 2) {
    const int i = static_cast<int>(lane) * kRegs + r;  // even, like n - 1: both keys are in or both are out
    const uint32_t both = (static_cast<uint32_t>(keys[r]) & 3) | ((static_cast<uint32_t>(keys[r + 1]) & 3) << 8);
    if (i < S::kRow) out[i / 2] = static_cast<uint16_t>(i < S::kN - 1 ? both : 0);
  }
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
