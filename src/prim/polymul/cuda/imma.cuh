// SPDX-License-Identifier: Apache-2.0
// Cyclic products on int8 tensor cores, each item with its own operands: a device function in which one warp computes
// one product.
//
// With rows k and columns L,  c[8k + L] = sum over u of  p[u + 8k] * r[L - u]  (limbs.cuh). Eight columns make the
// n-tile of mma.m16n8k32, n/8 rows its m-tiles, u its k: close to n^2 multiply-adds in all. Row k + 8 at u is row k at
// u + 64, so one fragment of p serves all m-tiles, each time with the fragment of r of another step: p is loaded once,
// by ldmatrix, and a window of r stays in registers. Accumulators are pairs of neighbouring coefficients whose word
// index is 32 * (row / 8) + lane: global stores are coalesced without a transpose.
#pragma once

#include "prim/polymul/cuda/limbs.cuh"

namespace polykem::cuda {

template <int N, MulKind kKind>
using ImmaShape = LimbShape<N, kKind>;

/// The number of one-warp blocks for which a multiprocessor must have registers, in products with two limbs; 0: the
/// compiler may choose. Sixteen mean 128 registers: at n = 821, ternary, 100,000 items 3.00 ns a product, against 3.24
/// ns with 131 registers and twelve blocks. Before compute capability 9.0 the shared memory does not suffice for that
/// many.
template <int N>
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
inline constexpr int kImmaBlocks = 0;
#else
inline constexpr int kImmaBlocks = N > 821 ? 0 : 16;
#endif

// A tile product on two types of bytes. Compute capability 7.5 only has the instruction for 8 x 8 x 16; four of those
// replace one, register by register.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define POLYKEM_TILE(d0, d1, p, r, p_type, r_type)                                                   \
  asm("mma.sync.aligned.m8n8k16.row.col.s32." p_type "." r_type ".s32 {%0,%1}, {%2}, {%3}, {%0,%1};" \
      : "+r"(d0), "+r"(d1)                                                                           \
      : "r"(p), "r"(r))
#define POLYKEM_MMA(p_type, r_type)                     \
  POLYKEM_TILE(d[0], d[1], p[0], r[0], p_type, r_type); \
  POLYKEM_TILE(d[2], d[3], p[1], r[0], p_type, r_type); \
  POLYKEM_TILE(d[0], d[1], p[2], r[1], p_type, r_type); \
  POLYKEM_TILE(d[2], d[3], p[3], r[1], p_type, r_type)
#else
#define POLYKEM_MMA(p_type, r_type)                                \
  asm("mma.sync.aligned.m16n8k32.row.col.s32." p_type "." r_type   \
      ".s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" \
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])             \
      : "r"(p[0]), "r"(p[1]), "r"(p[2]), "r"(p[3]), "r"(r[0]), "r"(r[1]))
#endif

/// d += p * r for one 16 x 8 tile and 32 values of u: 16 rows of p, 8 columns of r, bytes signed or not.
template <bool kSignedP, bool kSignedR = false>
__device__ __forceinline__ void mma_16x8x32(int (&d)[4], const uint32_t (&p)[4], const uint32_t (&r)[2]) {
  if constexpr (kSignedP && kSignedR) {
    POLYKEM_MMA("s8", "s8");
  } else if constexpr (kSignedP) {
    POLYKEM_MMA("s8", "u8");
  } else if constexpr (kSignedR) {
    POLYKEM_MMA("u8", "s8");
  } else {
    POLYKEM_MMA("u8", "u8");
  }
}

#undef POLYKEM_MMA
#undef POLYKEM_TILE

/// Loads four 8 x 16-byte matrices; each lane gives the address of a row.
__device__ __forceinline__ void load_matrices(uint32_t (&fragment)[4], uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(fragment[0]), "=r"(fragment[1]), "=r"(fragment[2]), "=r"(fragment[3])
               : "r"(address)
               : "memory");
}

/// One warp's product. Call stage_a and stage_b (in any order), __syncwarp(), multiply(), for_each_pair(). All 32 lanes
/// make every call together. `shared` is ImmaShape::kShared bytes for this warp alone, 128-byte aligned.
template <int N, MulKind kKind>
struct ImmaProduct : LimbStaging<N, kKind> {
  using Staging = LimbStaging<N, kKind>;
  using Shape = typename Staging::Shape;
  using Staging::lane;
  using Staging::shared;
  int sum[Shape::kSums][Shape::kTiles][4];  ///< after multiply(): the product's coefficients, not reduced

  __device__ __forceinline__ explicit ImmaProduct(uint8_t* warp_shared) : Staging(warp_shared) {}

  /// Multiplies the staged operands.
  __device__ __forceinline__ void multiply() {
    constexpr int kWindow = 2 * Shape::kTiles - 1;
    zero_sums();
    const uint32_t plain = plain_address();
    const uint8_t* reversed = reversed_address();
    uint32_t window[kWindow][Shape::kLimbsReversed][2];
#pragma unroll
    for (int w = 0; w < Shape::kFragments; ++w) {
      if (w < Shape::kSteps) load_reversed(window[w % kWindow], reversed + 32 * w, w);
      uint32_t fragment[Shape::kLimbsPlain][4];
#pragma unroll
      for (int limb = 0; limb < Shape::kLimbsPlain; ++limb) {
        load_matrices(fragment[limb], plain + limb * Shape::kPlainBytes + 32 * w);
      }
#pragma unroll
      for (int tile = 0; tile < Shape::kTiles; ++tile) {
        const int step = w - 2 * tile;
        if (step >= 0 && step < Shape::kSteps) add_limb_products(tile, fragment, window[step % kWindow]);
      }
    }
  }

  /// Coefficient N - 1, not reduced, in every lane.
  __device__ __forceinline__ int last_coefficient() const {
    constexpr int kWord = (N - 1) / 2;
    return __shfl_sync(kAllLanes, coefficient(kWord / 32, (N - 1) % 2), kWord % 32);
  }

  /// Calls store(w, pair) for the words this lane holds: pair is the coefficients 2w and 2w + 1, reduced; zeros from N
  /// on. The words of a warp are contiguous.
  template <class Store>
  __device__ __forceinline__ void for_each_pair(uint32_t mask, Store&& store) const {
    constexpr int kNotNegative = 3 * 8192;  // 0 mod 3; sums of three coefficients are between -6 n and 12 n
    static_assert(kKind != MulKind::s3 || (6 * N <= kNotNegative && 12 * N + kNotNegative < 3 * 16384));
    const int last = kKind == MulKind::s3 ? 2 * last_coefficient() + kNotNegative : 0;
#pragma unroll
    for (int half = 0; half < Shape::kHalves; ++half) {
      const unsigned word = half * 32 + lane;
      uint32_t low = coefficient(half, 0);
      uint32_t high = coefficient(half, 1);
      if constexpr (kKind == MulKind::s3) {
        low = mod3(low + last);
        high = mod3(high + last);
      }
      uint32_t pair = __byte_perm(low, high, 0x5410);
      if constexpr (kKind != MulKind::s3) pair &= mask;
      if (half == Shape::kHalves - 1) pair = 2 * word >= N ? 0 : 2 * word + 1 >= N ? pair & 0xffff : pair;
      if ((half + 1) * 64 <= Shape::kStride || 2 * word < Shape::kStride) store(word, pair);
    }
  }

 private:
  __device__ __forceinline__ void zero_sums() {
#pragma unroll
    for (int s = 0; s < Shape::kSums; ++s) {
#pragma unroll
      for (int tile = 0; tile < Shape::kTiles; ++tile) {
#pragma unroll
        for (int i = 0; i < 4; ++i)
          sum[s][tile][i] = 0;
      }
    }
  }

  /// Coefficient 64 * half + 2 * lane + odd, not reduced. A tile's upper eight rows are row group `tile`, its lower
  /// ones group tile + kTiles.
  __device__ __forceinline__ int coefficient(int half, int odd) const {
    const int tile = half % Shape::kTiles;
    const int i = half / Shape::kTiles * 2 + odd;
    return Shape::kSums == 1 ? sum[0][tile][i] : sum[0][tile][i] + (sum[Shape::kSums - 1][tile][i] << 8);
  }

  /// The row whose address this lane gives to ldmatrix, for the fragment at 0: the four matrices are upper rows, lower
  /// rows, and both again sixteen bytes later; odd rows are in the second copy.
  __device__ __forceinline__ uint32_t plain_address() const {
    const unsigned row = lane % 8;
    const unsigned matrix = lane / 8;
    return static_cast<uint32_t>(__cvta_generic_to_shared(shared)) + row % 2 * Shape::kPlainCopy + row / 2 * 16 +
           matrix % 2 * (64 * Shape::kTiles) + matrix / 2 * 16;
  }

  /// The address of this lane's word r[L - u], column L = lane / 4 and u = 4 * (lane % 4).
  __device__ __forceinline__ const uint8_t* reversed_address() const {
    const unsigned column = lane / 4;
    return Staging::reversed_limbs() + Shape::kFront + column % 4 * Shape::kReversedCopy + lane % 4 * 4 -
           column / 4 * 4;
  }

  __device__ __forceinline__ void load_reversed(uint32_t (&fragment)[Shape::kLimbsReversed][2], const uint8_t* source,
                                                int step) const {
#pragma unroll
    for (int limb = 0; limb < Shape::kLimbsReversed; ++limb) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        fragment[limb][i] = *reinterpret_cast<const uint32_t*>(source + limb * Shape::kReversedBytes + 16 * i);
        if (step == Shape::kSteps - 1) fragment[limb][i] &= Staging::mask_from_n(32 * step + 16 * i + 4 * (lane % 4));
      }
    }
  }

  __device__ __forceinline__ void add_limb_products(int tile, const uint32_t (&p)[Shape::kLimbsPlain][4],
                                                    const uint32_t (&r)[Shape::kLimbsReversed][2]) {
    constexpr bool kSignedP = kKind == MulKind::ternary || kKind == MulKind::s3, kSignedR = kKind == MulKind::s3;
    mma_16x8x32<kSignedP, kSignedR>(sum[0][tile], p[0], r[0]);
    if constexpr (Shape::kLimbsReversed == 2) mma_16x8x32<kSignedP, kSignedR>(sum[1][tile], p[0], r[1]);
    if constexpr (Shape::kLimbsPlain == 2) mma_16x8x32<kSignedP, kSignedR>(sum[1][tile], p[1], r[0]);
  }
};

}  // namespace polykem::cuda
