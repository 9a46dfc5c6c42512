// SPDX-License-Identifier: Apache-2.0
// Cyclic products on int8 tensor cores, each item with its own operands: a device function in which one warp computes
// one product.
//
// With rows k and columns L, c[8k + L] is the sum over u of p[u + 8k] * r[L - u] (limbs.cuh). Eight columns make the
// n-tile of mma.m16n8k32, n/8 rows its m-tiles, and u its k: close to n^2 multiply-adds in all. Row k + 8 at u is row k
// at u + 64, and each half of a tile has eight neighbouring rows or two runs of four, which go on in the next tile. So
// one fragment of p serves all m-tiles, each time with the fragment of r of another step: p is loaded once, by
// ldmatrix, and a window of r stays in registers. Accumulators are pairs of neighbouring coefficients, and those of 32
// lanes or of 16 are side by side, so stores are coalesced without a transpose.
#pragma once

#include "prim/polymul/cuda/limbs.cuh"
#include "prim/polymul/cuda/tensor_core.cuh"

namespace polykem::cuda {

template <int N, MulKind kKind>
using ImmaShape = LimbShape<N, kKind>;

/// The number of one-warp blocks for which a multiprocessor must have registers, in products with two limbs; with 0 the
/// compiler may choose. Sixteen mean 128 registers (docs/adr/0004-ntru-products-on-the-gpu.md), which do not suffice on
/// compute capability 10.0. Before 9.0 and on 12.0 the shared memory does not suffice for that many.
template <int N>
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ < 900 || __CUDA_ARCH__ >= 1200)
inline constexpr int kImmaBlocks = 0;
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ > 900
inline constexpr int kImmaBlocks = N > 821 ? 0 : 10;
#else
inline constexpr int kImmaBlocks = N > 821 ? 0 : 16;
#endif

/// The product of one warp. Call store_a() and store_b() (in any order), __syncwarp(), multiply(), for_each_pair(). All
/// 32 lanes make every call together. `shared` is ImmaShape::kShared bytes for this warp alone, 128-byte aligned. The
/// operands of kS3 may be any signed bytes.
template <int N, MulKind kKind>
struct ImmaProduct : LimbOperands<N, kKind> {
  using Base = LimbOperands<N, kKind>;
  using Shape = typename Base::Shape;
  using Base::lane;
  using Base::shared;
  int sum[Shape::kSums][Shape::kTiles][4];  ///< after multiply(): the product's coefficients, not reduced

  __device__ __forceinline__ explicit ImmaProduct(uint8_t* warp_shared) : Base(warp_shared) {}

  /// Multiplies the operands in shared memory.
  __device__ __forceinline__ void multiply() {
    constexpr int kWindow = Shape::kTileSteps * (Shape::kTiles - 1) + 1;
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
        const int step = w - Shape::kTileSteps * tile;
        if (step >= 0 && step < Shape::kSteps) add_limb_products(tile, fragment, window[step % kWindow]);
      }
    }
  }

  /// Returns coefficient N - 1, not reduced, in every lane.
  __device__ __forceinline__ int last_coefficient() const {
    constexpr int kWord = (N - 1) / 2, kRun = kWord / kRunWords;
    return __shfl_sync(kAllLanes, coefficient(kRun % Shape::kTiles, kRun / Shape::kTiles / kRuns, (N - 1) % 2),
                       kRun / Shape::kTiles % kRuns * kRunWords + kWord % kRunWords);
  }

  /// Calls store(w, bytes) like for_each_pair(), with the low bytes of the coefficients 2w and 2w + 1.
  template <class Store>
  __device__ __forceinline__ void for_each_byte_pair(Store&& store) const {
    for_each_pair(0xffffffff, [&store](unsigned word, uint32_t pair) {
      store(word, static_cast<uint16_t>(__byte_perm(pair, 0, 0x4420)));
    });
  }

  /// Calls store(w, pair) for the words that this lane holds. `pair` has the coefficients 2w and 2w + 1, reduced, and
  /// zeros from N on. The words of a warp are contiguous, or those of each half of it.
  template <class Store>
  __device__ __forceinline__ void for_each_pair(uint32_t mask, Store&& store) const {
    constexpr int kNotNegative = 3 << 25;              // 0 mod 3
    static_assert(3 * 128 * 128 * N <= kNotNegative);  // sums of three coefficients are at most that
    const int last = kKind == MulKind::kS3 ? 2 * last_coefficient() + kNotNegative : 0;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
      for (int tile = 0; tile < Shape::kTiles; ++tile) {
        if (2 * word_of(tile, half, 0) >= Shape::kStride) continue;
        const unsigned word = word_of(tile, half, lane), last_word = word_of(tile, half, 31);
        uint32_t low = coefficient(tile, half, 0);
        uint32_t high = coefficient(tile, half, 1);
        if constexpr (kKind == MulKind::kS3) {
          low = mod3_wide(low + last);
          high = mod3_wide(high + last);
        }
        uint32_t pair = __byte_perm(low, high, 0x5410);
        if constexpr (kKind != MulKind::kS3) pair &= mask;
        if (2 * last_word + 1 >= N) pair = 2 * word >= N ? 0 : 2 * word + 1 >= N ? pair & 0xffff : pair;
        if (2 * last_word < Shape::kStride || 2 * word < Shape::kStride) store(word, pair);
      }
    }
  }

 private:
  static constexpr int kRows = 4 * Shape::kTileSteps;  ///< neighbouring rows in each half of a tile
  static constexpr int kRuns = 8 / kRows;              ///< of such rows
  static constexpr int kRunWords = 4 * kRows;          ///< words of two coefficients in a run

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

  /// Returns the word that a lane has in the upper eight rows of a tile, half 0, or in the lower ones.
  __device__ __forceinline__ static constexpr unsigned word_of(int tile, int half, unsigned lane_of_word) {
    const unsigned run = half * kRuns + lane_of_word / kRunWords;
    return (run * Shape::kTiles + tile) * kRunWords + lane_of_word % kRunWords;
  }

  /// Returns a coefficient of this lane's word, not reduced.
  __device__ __forceinline__ int coefficient(int tile, int half, int odd) const {
    const int i = half * 2 + odd;
    const int low = sum[0][tile][i], other = sum[Shape::kSums - 1][tile][i];
    if constexpr (kKind == MulKind::kShort) return 16 * other - 15 * low;
    return Shape::kSums == 1 ? low : low + (other << 8);
  }

  /// Returns the address of the row that this lane gives to ldmatrix, for the fragment at 0. The four matrices are
  /// upper rows, lower rows, and both again sixteen bytes later; odd rows are in the second copy.
  __device__ __forceinline__ uint32_t plain_address() const {
    const unsigned row = lane % 8;
    const unsigned matrix = lane / 8;
    return static_cast<uint32_t>(__cvta_generic_to_shared(shared)) + row % 2 * Shape::kPlainCopy +
           row % kRows / 2 * 16 + row / kRows * (32 * Shape::kTiles) + matrix % 2 * (64 * Shape::kTiles) +
           matrix / 2 * 16;
  }

  /// Returns the address of this lane's word r[L - u], column L = lane / 4 and u = 4 * (lane % 4).
  __device__ __forceinline__ const uint8_t* reversed_address() const {
    const unsigned column = lane / 4;
    return Base::reversed_limbs() + Shape::kFront + column % 4 * Shape::kReversedCopy + lane % 4 * 4 - column / 4 * 4;
  }

  __device__ __forceinline__ void load_reversed(uint32_t (&fragment)[Shape::kLimbsReversed][2], const uint8_t* source,
                                                int step) const {
#pragma unroll
    for (int limb = 0; limb < Shape::kLimbsReversed; ++limb) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        fragment[limb][i] = *reinterpret_cast<const uint32_t*>(source + limb * Shape::kReversedBytes + 16 * i);
        if (step == Shape::kSteps - 1) fragment[limb][i] &= Base::mask_from_n(32 * step + 16 * i + 4 * (lane % 4));
      }
    }
  }

  __device__ __forceinline__ void add_limb_products(int tile, const uint32_t (&p)[Shape::kLimbsPlain][4],
                                                    const uint32_t (&r)[Shape::kLimbsReversed][2]) {
    constexpr bool kSignedP = kKind != MulKind::kGeneral && kKind != MulKind::kShort;
    constexpr bool kSignedR = kSignedP && kKind != MulKind::kTernary;
    mma_16x8x32<kSignedP, kSignedR>(sum[0][tile], p[0], r[0]);
    if constexpr (kKind == MulKind::kShort) return mma_16x8x32<false>(sum[1][tile], p[1], r[1]);
    if constexpr (Shape::kLimbsReversed == 2) mma_16x8x32<kSignedP, kSignedR>(sum[1][tile], p[0], r[1]);
    if constexpr (Shape::kLimbsPlain == 2) mma_16x8x32<kSignedP, kSignedR>(sum[1][tile], p[1], r[0]);
  }
};

}  // namespace polykem::cuda
