// SPDX-License-Identifier: Apache-2.0
// The product by dp4a, four multiply-adds of bytes in each lane. A warp computes a product from shared memory that is
// filled as in the tensor-core kernel, so that only the arithmetic unit differs.
#include "multipliers.cuh"
#include "prim/polymul/cuda/limbs.cuh"

namespace polykem::cuda {

namespace {

template <bool kSignedPlain>
__device__ __forceinline__ int dp4a(uint32_t p, uint32_t r, int sum) {
  if constexpr (kSignedPlain) {
    asm("dp4a.s32.u32 %0, %1, %2, %0;" : "+r"(sum) : "r"(p), "r"(r));
    return sum;
  } else {
    return static_cast<int>(__dp4a(p, r, static_cast<unsigned>(sum)));
  }
}

/// Lane 4g + t computes the coefficients 8k + L with k = g * kRows + i, i below kRows, and L = 2t, 2t + 1. A word of p
/// at u and row i is that of row i + 1 at u - 8, so a lane keeps a run of words in registers.
template <int N, MulKind kKind>
struct Dp4aProduct : LimbOperands<N, kKind> {
  using Base = LimbOperands<N, kKind>;
  using Shape = typename Base::Shape;
  using Base::lane;
  using Base::shared;
  static constexpr int kRows = (Shape::kGroups + 7) / 8;
  static constexpr int kRun = 8 + 2 * (kRows - 1);  ///< words of p that eight words of u meet
  static_assert(64 * kRows >= Shape::kStride);
  static_assert(8 * (7 * kRows) + 32 * (Shape::kSteps - 1) + 4 * kRun <= Shape::kPlainCopy + 256);
  int sum[Shape::kSums][kRows][2];

  __device__ __forceinline__ explicit Dp4aProduct(uint8_t* warp_shared) : Base(warp_shared), sum{} {}

  __device__ __forceinline__ void multiply() {
#pragma unroll 1
    for (int step = 0; step < Shape::kSteps - 1; ++step)
      add_step<false>(step);
    add_step<true>(Shape::kSteps - 1);
  }

  /// Thirty-two values of u; in the last step those from N on are masked out.
  template <bool kLast>
  __device__ __forceinline__ void add_step(int step) {
    const uint32_t* p = reinterpret_cast<const uint32_t*>(shared + 32 * step + lane / 4 * 8 * kRows);
    uint32_t run[Shape::kLimbsPlain][kRun];
#pragma unroll
    for (int limb = 0; limb < Shape::kLimbsPlain; ++limb) {
#pragma unroll
      for (int w = 0; w < kRun; ++w)
        run[limb][w] = p[limb * (Shape::kPlainBytes / 4) + w];
    }
#pragma unroll
    for (int w = 0; w < 8; ++w) {
#pragma unroll
      for (int column = 0; column < 2; ++column) {
        uint32_t r[Shape::kLimbsReversed];
#pragma unroll
        for (int limb = 0; limb < Shape::kLimbsReversed; ++limb) {
          r[limb] = reversed_word(limb, 32 * step + 4 * w, lane % 4 * 2 + column);
          if (kLast) r[limb] &= Base::mask_from_n(32 * (Shape::kSteps - 1) + 4 * w);
        }
#pragma unroll
        for (int i = 0; i < kRows; ++i) {
          constexpr bool kSigned = kKind == MulKind::kTernary;
          sum[0][i][column] = dp4a<kSigned>(run[0][w + 2 * i], r[0], sum[0][i][column]);
          if constexpr (Shape::kLimbsReversed == 2) {
            sum[1][i][column] = dp4a<kSigned>(run[0][w + 2 * i], r[1], sum[1][i][column]);
          }
          if constexpr (Shape::kLimbsPlain == 2) {
            sum[1][i][column] = dp4a<kSigned>(run[1][w + 2 * i], r[0], sum[1][i][column]);
          }
        }
      }
    }
  }

  /// Returns the bytes r[L - u], .., r[L - u - 3].
  __device__ __forceinline__ uint32_t reversed_word(int limb, int u, int column) const {
    const uint8_t* copy = Base::reversed_limbs() + limb * Shape::kReversedBytes + column % 4 * Shape::kReversedCopy;
    return *reinterpret_cast<const uint32_t*>(copy + Shape::kFront + u - column / 4 * 4);
  }

  __device__ __forceinline__ uint32_t coefficient(int i, int column) const {
    return Shape::kSums == 1 ? sum[0][i][column] : sum[0][i][column] + (sum[Shape::kSums - 1][i][column] << 8);
  }

  /// As in ImmaProduct, but the words of a warp are not contiguous.
  template <class Store>
  __device__ __forceinline__ void for_each_pair(uint32_t mask, Store&& store) const {
    uint32_t last = 0;
    if constexpr (kKind == MulKind::kS3) {
      constexpr int kRow = (N - 1) / 8;
      last = 2 * __shfl_sync(kAllLanes, coefficient(kRow % kRows, (N - 1) % 2), kRow / kRows * 4 + (N - 1) % 8 / 2);
    }
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      const unsigned word = (lane / 4 * kRows + i) * 4 + lane % 4;
      uint32_t low = coefficient(i, 0);
      uint32_t high = coefficient(i, 1);
      if constexpr (kKind == MulKind::kS3) {
        low = mod3(low + last);
        high = mod3(high + last);
      }
      uint32_t pair = __byte_perm(low, high, 0x5410);
      if constexpr (kKind != MulKind::kS3) pair &= mask;
      if (2 * word + 1 >= N) pair = 2 * word >= N ? 0 : pair & 0xffff;
      if (2 * word < Shape::kStride) store(word, pair);
    }
  }
};

template <int N, MulKind kKind>
__global__ void __launch_bounds__(kWarp) dp4a_kernel(MulArgs args) {
  using Shape = LimbShape<N, kKind>;
  extern __shared__ __align__(128) uint8_t arena[];
  const size_t item = blockIdx.x;
  uint4 a[Shape::kRounds];
  uint4 b[Shape::kRounds];
  load_groups<N, kKind>(a, args.a + item * args.a_stride);
  load_groups<N, kKind>(b, args.b + item * args.b_stride);
  Dp4aProduct<N, kKind> product(arena);
  product.store_a(a);
  product.store_b(b);
  __syncwarp();
  product.multiply();
  uint32_t* c = reinterpret_cast<uint32_t*>(args.c + item * Shape::kStride);
  product.for_each_pair(args.mask, [c](unsigned word, uint32_t pair) { c[word] = pair; });
}

}  // namespace

cudaError_t launch_dp4a(MulKind kind, size_t n, const MulArgs& args, cudaStream_t stream) {
  return with_degree_and_kind(n, kind, [&]<int N, MulKind kKind>() {
    // Idle rows read up to 256 bytes past the staged operand.
    constexpr int kBytes = LimbShape<N, kKind>::kShared + 256;
    return launch(dp4a_kernel<N, kKind>, args.count, kWarp, kBytes, stream, args);
  });
}

}  // namespace polykem::cuda
