// SPDX-License-Identifier: Apache-2.0
// Negacyclic products on int8 tensor cores, each item with its own operands: a device function in which one warp
// computes products modulo x^n + 1 and adds them up.
//
// With rows k and columns L, c[8k + L] is the sum over u, any n indices in a row, of p[u + 8k] * r[L - u], where p and
// r go on beyond their ends with the sign changed: p[i + n] = -p[i], r[i + n] = -r[i]. So one operand is laid out plain
// (p), the other reversed (r), and both are read upwards. p lies there in two copies eight bytes apart, because
// ldmatrix needs rows at multiples of 16 bytes, and r in four, each shifted by one byte, in distinct banks. Eight
// columns make the n-tile of mma.m16n8k32, n/8 rows its m-tiles, and u its k: n^2 multiply-adds.
//
// Rows k + 8 at u are rows k at u + 64, and p at i + n is -p at i, so n/16 matrices of eight rows at u = 16 i hold all
// of p. Fragments pair matrix i with matrix i + n/32. Such a fragment belongs to rows 8 t.. and 8 t + n/16.. at u = 16
// i - 64 t, and, n/2 further, to the latter negated and the former; these sums go to tiles of their own. So a fragment
// is loaded once, in the order in which the instruction takes it, for 2 n/128 products.
//
// Bytes of p are unsigned: what stands for -p is its difference from a multiple of the modulus. The caller computes it,
// since a coefficient of two limbs is negated before it is cut into bytes.
#pragma once

#include "prim/polymul/cuda/tensor_core.cuh"

namespace polykem::cuda {

/// The sizes of one product. A limb is one byte of each coefficient.
template <int N>
struct NegacyclicShape {
  static_assert(N % 256 == 0, "each lane has whole groups");
  static constexpr int kRounds = N / 256;  ///< groups of eight coefficients per lane
  static constexpr int kSteps = N / 32;    ///< steps of 32 values of u
  static constexpr int kTiles = N / 128;   ///< m-tiles of sixteen rows
  static constexpr int kHalves = N / 64;   ///< groups of eight rows
  /// The bytes of a plain copy, 64 modulo 128, so that the two copies fill all banks.
  static constexpr int kPlainCopy = N + 64;
  static constexpr int kPlainBytes = 2 * kPlainCopy;     ///< shared memory of a limb of p
  static constexpr int kNegatedGroups = 7;               ///< groups of -p that follow p
  static constexpr int kStepsBefore = 2 * (kTiles - 1);  ///< steps before u = 0
  static constexpr int kFront = 32 * kStepsBefore + 8;   ///< bytes before index 0 of a reversed copy
  /// The bytes of a reversed copy, 32 modulo 128, so that the four copies are in distinct banks.
  static constexpr int kReversedCopy = (N + kFront + 95) / 128 * 128 + 32;
  static constexpr int kReversedBytes = 4 * kReversedCopy;  ///< shared memory of a limb of r
};

/// A lane's bytes of one limb: groups lane, lane + 32, ... Group j is the coefficients 8j..8j+7.
template <int N>
using NegacyclicGroups = uint2[NegacyclicShape<N>::kRounds];

/// Writes a limb of p to `limb`, kPlainBytes of shared memory, 16-byte aligned; `negated` is the same limb of -p, of
/// which only the first 32 groups are read. All lanes call it together, and synchronise before the limb is read and
/// before it is written again.
template <int N>
__device__ __forceinline__ void store_plain(uint8_t* limb, const NegacyclicGroups<N>& bytes,
                                            const NegacyclicGroups<N>& negated, unsigned lane) {
  using Shape = NegacyclicShape<N>;
  // Index x of the second copy is 8 + x of p; what it has before 0 is padding of the first.
  constexpr int kSecond = Shape::kPlainCopy / 8 - 1;
  auto* const at = reinterpret_cast<uint2*>(limb) + lane;
#pragma unroll
  for (int i = 0; i < Shape::kRounds; ++i) {
    at[32 * i] = bytes[i];
    at[kSecond + 32 * i] = bytes[i];
  }
  if (lane < Shape::kNegatedGroups) {
    at[N / 8] = negated[0];
    at[kSecond + N / 8] = negated[0];
  }
}

/// Writes a limb of r to `limb`, kReversedBytes of shared memory, 8-byte aligned; `negated` is the same limb of -r. All
/// lanes call it together, and synchronise as for store_plain().
template <int N>
__device__ __forceinline__ void store_reversed(uint8_t* limb, const NegacyclicGroups<N>& bytes,
                                               const NegacyclicGroups<N>& negated, unsigned lane) {
  using Shape = NegacyclicShape<N>;
  uint8_t* const copies = limb + Shape::kFront;
  // Copy s holds r[s - x] at x >= -kFront. Groups of -r lie before x = N, the first groups of r before x = 0.
  const auto store = [&](const NegacyclicGroups<N>& groups, const NegacyclicGroups<N>& further, int i, int end,
                         int count) {
    const int group = static_cast<int>(lane) + 32 * i;
    const uint32_t first = i + 1 < Shape::kRounds ? groups[(i + 1) % Shape::kRounds].x : further[0].x;
    const uint32_t following = __shfl_sync(0xffffffff, lane == 0 ? first : groups[i].x, (lane + 1) % 32);
    const uint32_t before = __byte_perm(following, 0, 0x0123);
    const uint32_t high = __byte_perm(groups[i].y, 0, 0x0123), low = __byte_perm(groups[i].x, 0, 0x0123);
    if (group >= count) return;
#pragma unroll
    for (int s = 0; s < 4; ++s) {
      *reinterpret_cast<uint2*>(copies + s * Shape::kReversedCopy + end - 8 - 8 * group) =
          make_uint2(__funnelshift_r(before, high, 24 - 8 * s), __funnelshift_r(high, low, 24 - 8 * s));
    }
  };
#pragma unroll
  for (int i = 0; i < Shape::kRounds; ++i)
    store(negated, bytes, i, N, N / 8);
  constexpr int kGroups = Shape::kFront / 8;
#pragma unroll
  for (int i = 0; 32 * i < kGroups; ++i)
    store(bytes, negated, i, 0, kGroups);
}

/// A limb of r in registers, for any number of products.
template <int N>
struct NegacyclicFragments {
  using Shape = NegacyclicShape<N>;
  static constexpr int kBefore = Shape::kStepsBefore;
  uint32_t words[kBefore + Shape::kSteps][2];

  /// Loads what store_reversed() has written.
  __device__ __forceinline__ void load(const uint8_t* limb, unsigned lane) {
    const unsigned column = lane / 4;
    const uint8_t* const from =
        limb + Shape::kFront + column % 4 * Shape::kReversedCopy + lane % 4 * 4 - column / 4 * 4;
#pragma unroll
    for (int step = -kBefore; step < Shape::kSteps; ++step) {
#pragma unroll
      for (int i = 0; i < 2; ++i)
        words[kBefore + step][i] = *reinterpret_cast<const uint32_t*>(from + 32 * step + 16 * i);
    }
  }
  /// Returns the words for u = 32 step and the next 31 values, step >= -kBefore.
  __device__ __forceinline__ const uint32_t (&at(int step) const)[2] {
    return words[kBefore + step];
  }
};

/// The sums of products of one warp, with the weight 2^(8 w) for index w. Tile t of `sum` has the rows 8 t.. and
/// 8 t + n/16.., tile t of `crossed` the latter negated and the former. All 32 lanes make every call together.
template <int N, int kWeights>
struct NegacyclicSums {
  using Shape = NegacyclicShape<N>;
  int sum[kWeights][Shape::kTiles][4], crossed[kWeights][Shape::kTiles][4];

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int w = 0; w < kWeights; ++w) {
#pragma unroll
      for (int tile = 0; tile < Shape::kTiles; ++tile) {
#pragma unroll
        for (int i = 0; i < 4; ++i)
          sum[w][tile][i] = crossed[w][tile][i] = 0;
      }
    }
  }

  /// Adds limb i of p times r to the sums of weight kWeight + i, i < kLimbs. The limbs lie one after the other, as
  /// store_plain() has written them. The bytes of r are signed if kSignedR.
  template <int kLimbs, int kWeight = 0, bool kSignedR = true>
  __device__ __forceinline__ void add(const uint8_t* plain, const NegacyclicFragments<N>& r, unsigned lane) {
    static_assert(kWeight + kLimbs <= kWeights);
    constexpr int kFragments = Shape::kSteps / 2;
    const unsigned row = lane % 8;
    const uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(plain)) + row % 2 * Shape::kPlainCopy +
                             row / 2 * 16 + lane / 8 % 2 * (N / 2) + lane / 16 * 16;
    uint32_t fragments[2][kLimbs][4];  // this one and the next
    const auto load = [&](int f) {
#pragma unroll
      for (int limb = 0; limb < kLimbs; ++limb)
        load_matrices(fragments[f % 2][limb], address + limb * Shape::kPlainBytes + 32 * f);
    };
    load(0);
#pragma unroll
    for (int f = 0; f < kFragments; ++f) {
      if (f + 1 < kFragments) load(f + 1);
#pragma unroll
      for (int tile = 0; tile < Shape::kTiles; ++tile) {
#pragma unroll
        for (int limb = 0; limb < kLimbs; ++limb) {
          const auto& fragment = fragments[f % 2][limb];
          mma_16x8x32<false, kSignedR>(sum[kWeight + limb][tile], fragment, r.at(f - 2 * tile));
          mma_16x8x32<false, kSignedR>(crossed[kWeight + limb][tile], fragment, r.at(f - 2 * tile + Shape::kSteps / 2));
        }
      }
    }
  }

  /// Returns coefficient 64 half + 2 lane + odd of the sum, half < kHalves, not reduced.
  __device__ __forceinline__ int coefficient(int half, int odd) const {
    const int tile = half % Shape::kTiles;
    const bool upper = half < Shape::kTiles;
    int result = 0;
#pragma unroll
    for (int w = 0; w < kWeights; ++w)
      result += (upper ? sum[w][tile][odd] + crossed[w][tile][2 + odd] : sum[w][tile][2 + odd] - crossed[w][tile][odd])
                << (8 * w);
    return result;
  }
};

}  // namespace polykem::cuda
