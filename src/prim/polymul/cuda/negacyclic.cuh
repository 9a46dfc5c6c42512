// SPDX-License-Identifier: Apache-2.0
// Negacyclic products on int8 tensor cores, each item with its own operands: a device function in which one warp
// computes products modulo x^n + 1 and adds them up.
//
// With rows k and columns L, c[8k + L] is the sum over u = 0..n-1 of p[u + 8k] * r[L - u], where p and r go on beyond
// their ends with the sign changed: p[i + n] = -p[i], r[i + n] = -r[i]. So one operand is laid out plain (p), the other
// reversed (r), and both are read upwards. p lies there in two copies eight bytes apart, because ldmatrix needs rows at
// multiples of 16 bytes, and r in four, each shifted by one byte, in distinct banks. Eight columns make the n-tile of
// mma.m16n8k32, n/8 rows its m-tiles, and u its k: n^2 multiply-adds. Rows k + 8 at u are rows k at u + 64, so what
// ldmatrix has loaded once serves as the upper and the lower half of fragments and for all m-tiles.
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
  static constexpr int kPlainCopy = 2 * N + 64;
  static constexpr int kPlainBytes = 2 * kPlainCopy;  ///< shared memory of a limb of p
  static constexpr int kFront = 8;                    ///< bytes before index 0 of a reversed copy
  /// The bytes of a reversed copy, 32 modulo 128, so that the four copies are in distinct banks.
  static constexpr int kReversedCopy = N + 32;
  static constexpr int kReversedBytes = 4 * kReversedCopy;  ///< shared memory of a limb of r
};

/// A lane's bytes of one limb: groups lane, lane + 32, ... Group j is the coefficients 8j..8j+7.
template <int N>
using NegacyclicGroups = uint2[NegacyclicShape<N>::kRounds];

/// Writes a limb of p to `limb`, kPlainBytes of shared memory, 16-byte aligned; `negated` is the same limb of -p. All
/// lanes call it together, and synchronise before the limb is read and before it is written again.
template <int N>
__device__ __forceinline__ void store_plain(uint8_t* limb, const NegacyclicGroups<N>& bytes,
                                            const NegacyclicGroups<N>& negated, unsigned lane) {
  using Shape = NegacyclicShape<N>;
#pragma unroll
  for (int i = 0; i < Shape::kRounds; ++i) {
    // Index x of the second copy is 8 + x of p; what it has before 0 is padding of the first.
    auto* const at = reinterpret_cast<uint2*>(limb) + lane + 32 * i;
    constexpr int kSecond = Shape::kPlainCopy / 8 - 1;
    at[0] = bytes[i];
    at[N / 8] = negated[i];
    at[kSecond] = bytes[i];
    at[kSecond + N / 8] = negated[i];
  }
}

/// Writes a limb of r to `limb`, kReversedBytes of shared memory, 8-byte aligned; `negated` is the same limb of -r. All
/// lanes call it together, and synchronise as for store_plain().
template <int N>
__device__ __forceinline__ void store_reversed(uint8_t* limb, const NegacyclicGroups<N>& bytes,
                                               const NegacyclicGroups<N>& negated, unsigned lane) {
  using Shape = NegacyclicShape<N>;
  uint8_t* const copies = limb + Shape::kFront;
  // Copy s holds r[s - x] at x >= -4.
#pragma unroll
  for (int i = 0; i < Shape::kRounds; ++i) {
    const int group = static_cast<int>(lane) + 32 * i;
    const uint32_t first = i + 1 < Shape::kRounds ? negated[(i + 1) % Shape::kRounds].x : bytes[0].x;
    const uint32_t following = __shfl_sync(0xffffffff, lane == 0 ? first : negated[i].x, (lane + 1) % 32);
    const uint32_t before = __byte_perm(following, 0, 0x0123);
    const uint32_t high = __byte_perm(negated[i].y, 0, 0x0123), low = __byte_perm(negated[i].x, 0, 0x0123);
#pragma unroll
    for (int s = 0; s < 4; ++s) {
      *reinterpret_cast<uint2*>(copies + s * Shape::kReversedCopy + N - 8 - 8 * group) =
          make_uint2(__funnelshift_r(before, high, 24 - 8 * s), __funnelshift_r(high, low, 24 - 8 * s));
    }
  }
  if (lane == 0) {
    const uint32_t high = __byte_perm(bytes[0].y, 0, 0x0123), low = __byte_perm(bytes[0].x, 0, 0x0123);
#pragma unroll
    for (int s = 0; s < 4; ++s)
      *reinterpret_cast<uint32_t*>(copies + s * Shape::kReversedCopy - 4) = __funnelshift_r(high, low, 24 - 8 * s);
  }
}

/// A limb of r in registers, for any number of products.
template <int N>
struct NegacyclicFragments {
  using Shape = NegacyclicShape<N>;
  uint32_t words[Shape::kSteps][2];

  /// Loads what store_reversed() has written.
  __device__ __forceinline__ void load(const uint8_t* limb, unsigned lane) {
    const unsigned column = lane / 4;
    const uint8_t* const from =
        limb + Shape::kFront + column % 4 * Shape::kReversedCopy + lane % 4 * 4 - column / 4 * 4;
#pragma unroll
    for (int step = 0; step < Shape::kSteps; ++step) {
#pragma unroll
      for (int i = 0; i < 2; ++i)
        words[step][i] = *reinterpret_cast<const uint32_t*>(from + 32 * step + 16 * i);
    }
  }
};

/// The sums of products of one warp; sum[w] has the weight 2^(8 w). All 32 lanes make every call together.
template <int N, int kWeights>
struct NegacyclicSums {
  using Shape = NegacyclicShape<N>;
  int sum[kWeights][Shape::kTiles][4];

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (auto& weight : sum) {
#pragma unroll
      for (auto& tile : weight) {
#pragma unroll
        for (int& x : tile)
          x = 0;
      }
    }
  }

  /// Adds limb i of p times r to the sums of weight kWeight + i, i < kLimbs. The limbs lie one after the other, as
  /// store_plain() has written them. The bytes of r are signed if kSignedR.
  template <int kLimbs, int kWeight = 0, bool kSignedR = true>
  __device__ __forceinline__ void add(const uint8_t* plain, const NegacyclicFragments<N>& r, unsigned lane) {
    static_assert(kWeight + kLimbs <= kWeights);
    constexpr int kPairs = Shape::kSteps - 1;
    const unsigned row = lane % 8;
    const uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(plain)) + row % 2 * Shape::kPlainCopy +
                             row / 2 * 16 + lane / 8 * 16;
    // Eight rows at 32 w and at 32 w + 32, w even: two matrices each. Those of the next w are the lower rows.
    uint32_t rows[2][kLimbs][4];
    const auto load = [&](int pair) {
#pragma unroll
      for (int limb = 0; limb < kLimbs; ++limb)
        load_matrices(rows[pair % 2][limb], address + limb * Shape::kPlainBytes + 64 * pair);
    };
    load(0);
#pragma unroll
    for (int w = 0; w < 2 * kPairs - 2; ++w) {
      if (w % 2 == 0) load(w / 2 + 1);
      const int half = w % 2 * 2;
#pragma unroll
      for (int limb = 0; limb < kLimbs; ++limb) {
        const auto& upper = rows[w / 2 % 2][limb];
        const auto& lower = rows[(w / 2 + 1) % 2][limb];
        const uint32_t fragment[4] = {upper[half], lower[half], upper[half + 1], lower[half + 1]};
#pragma unroll
        for (int tile = 0; tile < Shape::kTiles; ++tile) {
          const int step = w - 4 * tile;
          if (step >= 0 && step < Shape::kSteps)
            mma_16x8x32<false, kSignedR>(sum[kWeight + limb][tile], fragment, r.words[step]);
        }
      }
    }
  }

  /// Returns coefficient 64 half + 2 lane + odd of the sum, half < kHalves, not reduced.
  __device__ __forceinline__ int coefficient(int half, int odd) const {
    int result = 0;
#pragma unroll
    for (int w = 0; w < kWeights; ++w)
      result += sum[w][half / 2][half % 2 * 2 + odd] << (8 * w);
    return result;
  }
};

}  // namespace polykem::cuda
