// SPDX-License-Identifier: Apache-2.0
// Polynomials in registers, in the form that the tensor cores' products take: group j has the coefficients 8j .. 8j + 7
// and lies in lane j mod 32. Anything past coefficient n - 1 in a group is undefined.
#pragma once

#include "prim/polymul/cuda/limbs.cuh"
#include "schemes/ntru/cuda/sample.cuh"

namespace polykem::ntru::cuda {

template <class Set>
using GroupShape = polykem::cuda::LimbShape<Shape<Set>::kN, polykem::cuda::MulKind::kGeneral>;

/// A lane's groups, of 16-bit coefficients and of bytes.
template <class Set>
using Groups = uint4[GroupShape<Set>::kRounds];
template <class Set>
using ByteGroups = uint2[GroupShape<Set>::kRounds];

/// Calls f(i, j) for each group j of this lane, which is the i-th of the lane's array.
template <class Set, class F>
__device__ __forceinline__ void for_each_group(unsigned lane, F&& f) {
  using C = GroupShape<Set>;
#pragma unroll
  for (int i = 0; i < C::kRounds; ++i) {
    const int j = static_cast<int>(lane) + 32 * i;
    if ((i + 1) * 32 <= C::kGroups || j < C::kGroups) f(i, j);
  }
}

/// The words that a lane's groups of a packed polynomial touch.
template <class Set>
inline constexpr int kGroupWords = (3 + static_cast<int>(Shape<Set>::kLogQ) + 3) / 4;
template <class Set>
using PackedWords = uint32_t[GroupShape<Set>::kRounds][kGroupWords<Set>];

/// Returns the group of coefficients whose logq bytes begin `skip` bytes after the first of the words. Bits above logq
/// are not cleared.
template <class Set>
__device__ __forceinline__ uint4 unpacked_group(const uint32_t (&words)[kGroupWords<Set>], unsigned skip) {
  constexpr int kBits = static_cast<int>(Shape<Set>::kLogQ), kWords = kGroupWords<Set>;
  uint32_t aligned[kWords + 1];
#pragma unroll
  for (int w = 0; w < kWords; ++w)
    aligned[w] = __funnelshift_r(words[w], w + 1 < kWords ? words[w + 1] : 0, 8 * skip);
  aligned[kWords] = 0;
  const auto both = [&](int k) {
    const int low = 2 * k * kBits, high = low + kBits;
    return __byte_perm(__funnelshift_r(aligned[low / 32], aligned[low / 32 + 1], low % 32),
                       __funnelshift_r(aligned[high / 32], aligned[high / 32 + 1], high % 32), 0x5410);
  };
  return make_uint4(both(0), both(1), both(2), both(3));
}

/// Loads the words of a packed polynomial. A record's groups of logq bytes begin `skip` bytes after a word in all of a
/// lane's groups. Reads only words that the record touches.
template <class Set>
__device__ __forceinline__ void fetch_packed(PackedWords<Set>& words, const uint8_t* record, unsigned lane) {
  using S = Shape<Set>;
  constexpr int kBits = static_cast<int>(S::kLogQ), kLast = GroupShape<Set>::kLastGroup;
  for_each_group<Set>(lane, [&](int i, int j) {
    const auto at = reinterpret_cast<uintptr_t>(record + kBits * j);
    const auto* from = reinterpret_cast<const uint32_t*>(at & ~uintptr_t{3});
    const bool inside = (i + 1) * 32 < kLast;  // the next group is in the record too
    const int last = (static_cast<int>(at & 3) + S::kRqBytes - 1 - kBits * j) / 4;
#pragma unroll
    for (int w = 0; w < kGroupWords<Set>; ++w)
      words[i][w] = __ldg(from + (inside ? w : min(w, last)));
  });
}

/// Computes poly_Sq_frombytes from the words of a record, except for coefficient n - 1, which remains undefined.
template <class Set>
__device__ __forceinline__ void unpack_groups(Groups<Set>& c, const PackedWords<Set>& words, const uint8_t* record,
                                              unsigned lane) {
  constexpr int kBits = static_cast<int>(Shape<Set>::kLogQ);
  const auto skip = static_cast<unsigned>(reinterpret_cast<uintptr_t>(record + kBits * static_cast<int>(lane)) & 3);
  for_each_group<Set>(lane, [&](int i, int) { c[i] = unpacked_group<Set>(words[i], skip); });
}

/// Computes poly_Sq_frombytes, except for coefficient n - 1, which remains undefined.
template <class Set>
__device__ __forceinline__ void load_packed(Groups<Set>& c, const uint8_t* record, unsigned lane) {
  PackedWords<Set> words;
  fetch_packed<Set>(words, record, lane);
  unpack_groups<Set>(c, words, record, lane);
}

/// Overwrites coefficient n - 1, which records do not hold.
template <class Set>
__device__ __forceinline__ void set_last(Groups<Set>& c, uint32_t value, unsigned lane) {
  constexpr int kLast = GroupShape<Set>::kLastGroup;
  if (lane == kLast % 32) c[kLast / 32].z = value & 0xffff;
}

/// Completes poly_Rq_sum_zero_frombytes after load_packed(): coefficient n - 1 becomes minus the sum of the others.
template <class Set>
__device__ __forceinline__ void close_sum(Groups<Set>& c, unsigned lane) {
  constexpr uint32_t kOnes = 0x0101;
  uint32_t sum = 0;
  for_each_group<Set>(lane, [&](int i, int j) {
    sum = __dp2a_lo(c[i].x, kOnes, __dp2a_lo(c[i].y, kOnes, sum));
    if (j < GroupShape<Set>::kLastGroup) sum = __dp2a_lo(c[i].z, kOnes, __dp2a_lo(c[i].w, kOnes, sum));
  });
  set_last<Set>(c, 0u - warp_sum(sum), lane);
}

/// Loads a row of bytes, which is 8-byte aligned.
template <class Set>
__device__ __forceinline__ void load_bytes(ByteGroups<Set>& c, const uint8_t* row, unsigned lane) {
  for_each_group<Set>(lane, [&](int i, int j) { c[i] = reinterpret_cast<const uint2*>(row)[j]; });
}

/// Returns the two signed bytes that the selector names as two coefficients: prmt repeats the sign of a byte at 8 + its
/// index.
template <unsigned kSelector>
__device__ __forceinline__ uint32_t signed_pair(uint32_t bytes) {
  uint32_t result;
  asm("prmt.b32 %0, %1, 0, %2;" : "=r"(result) : "r"(bytes), "n"(kSelector));
  return result;
}

/// Returns coefficients 8j .. 8j + 7 of Lift(m) as elements of Rq. `quotient`: for HRSS the result of lift_quotient(),
/// for HPS the trits of m; 8-byte aligned.
template <class Set>
__device__ __forceinline__ uint4 lift_group(const uint8_t* quotient, int j) {
  using S = Shape<Set>;
  const uint2 trits = reinterpret_cast<const uint2*>(quotient)[j];
  uint32_t low = centred_bytes(trits.x), high = centred_bytes(trits.y);
  if constexpr (!S::kHps) {
    const uint32_t previous = centred_bytes(quotient[j == 0 ? S::kN - 1 : 8 * j - 1]);
    const uint32_t before_low = __byte_perm(low, previous, 0x2104), before_high = __byte_perm(high, low, 0x2107);
    low = __vsub4(before_low, low);
    high = __vsub4(before_high, high);
  }
  return make_uint4(signed_pair<0x9180>(low), signed_pair<0xb3a2>(low), signed_pair<0x9180>(high),
                    signed_pair<0xb3a2>(high));
}

}  // namespace polykem::ntru::cuda
