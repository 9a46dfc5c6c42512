// SPDX-License-Identifier: Apache-2.0
// Computes many products with a shared operand as a matrix product on int8 tensor cores: items x circulant matrix.
//
//   c[item][r] = sum over j of x[item][j] * s[(r - j) mod n],   s the shared operand, x the one per item
// A block owns kItems items and all columns r, a warp 64 of them. The circulant's fragments are never stored as a
// matrix. Column r at row j equals column r + 8 at row j + 8, so eight byte-shifted reversed copies of s hold all of
// them, and a warp keeps a window of eight fragments in registers and loads four per 32 values of j. Blocks loop over
// items, so the copies are made once, and the next items' rows are loaded while the present ones are multiplied.
#include "multipliers.cuh"
#include "prim/polymul/cuda/imma.cuh"

namespace polykem::cuda {

namespace {

constexpr int kItems = 32;

template <int N, MulKind kKind>
struct SharedShape {
  static constexpr int kSteps = (N + 31) / 32;
  static constexpr int kGroups = (N + 63) / 64;     ///< groups of 64 columns
  static constexpr int kWarps = (kGroups + 1) / 2;  ///< warps of a block
  static constexpr int kThreads = kWarps * static_cast<int>(kWarp);
  static constexpr int kLimbsWide = kKind == MulKind::kS3 ? 1 : 2;
  static constexpr int kStride = kPolyStride<N>;
  /// Bytes of an item's row: an odd multiple of 16, which avoids bank conflicts of ldmatrix.
  static constexpr int kRow = kStride + 16;
  static constexpr int kRowsBytes = kItems * kRow;
  /// Offset of index 0 in a reversed copy, whose indices run from 1 - 64 kGroups to 32 kSteps - 1. A copy is 16 modulo
  /// 128, so that the words of eight neighbouring columns lie in distinct banks.
  static constexpr int kZero = 64 * kGroups;
  static constexpr int kCopy = (kZero + 32 * kSteps + 111) / 128 * 128 + 16;
  static_assert(kCopy >= kZero + 32 * kSteps);
  static constexpr int kCopiesBytes = 8 * kCopy;
  static constexpr int kVectors = kStride / 8;
  static constexpr int kVectorThreads = 32;  ///< threads that load a row together
  static_assert(kRow % 32 == 16);
};

/// kSharedWide: for ternary, whether the shared operand is a (wide) and not b.
template <int N, MulKind kKind, bool kSharedWide>
struct SharedProduct {
  using Shape = SharedShape<N, kKind>;
  static constexpr bool kTernary = kKind == MulKind::kTernary;
  static constexpr int kLimbsX = kTernary && kSharedWide ? 1 : Shape::kLimbsWide;
  static constexpr int kLimbsS = kTernary && !kSharedWide ? 1 : Shape::kLimbsWide;
  static constexpr int kShared = kLimbsX * Shape::kRowsBytes + kLimbsS * Shape::kCopiesBytes;

  uint8_t* rows;
  uint8_t* copies;
  unsigned lane;
  unsigned group;  ///< group of 64 columns
  int sum[2][8][4];
  int tail[2][4];  ///< for s3, the tile with column N - 1, which every warp needs

  __device__ __forceinline__ explicit SharedProduct(uint8_t* arena)
      : rows(arena),
        copies(arena + kLimbsX * Shape::kRowsBytes),
        lane(threadIdx.x % kWarp),
        group(blockIdx.y * Shape::kWarps + threadIdx.x / kWarp) {}

  /// Copy k holds s[(k - y) mod N] at y.
  __device__ __forceinline__ void stage_shared(const uint16_t* s) {
    for (int i = threadIdx.x; i < 8 * Shape::kCopy; i += Shape::kThreads) {
      const int copy = i / Shape::kCopy;
      const int y = i % Shape::kCopy - Shape::kZero;
      const uint16_t value = s[(copy - y + 4 * N) % N];
#pragma unroll
      for (int limb = 0; limb < kLimbsS; ++limb)
        copies[limb * Shape::kCopiesBytes + i] = value >> (8 * limb);
    }
  }

  /// Loads rows first.. of x and splits them into limbs; rows from `count` on and coefficients from N on become zero.
  /// Threads walk along a column of vectors, so that the masks are the same for all rows of a thread's turn.
  __device__ __forceinline__ void stage_items(const uint16_t* x, size_t first, size_t count) const {
    const int rows_left = count - first < kItems ? static_cast<int>(count - first) : kItems;
    for (int c = threadIdx.x % Shape::kVectorThreads; c < Shape::kVectors; c += Shape::kVectorThreads) {
      const uint32_t low_mask = mask_from_n(8 * c);
      const uint32_t high_mask = mask_from_n(8 * c + 4);
      const uint16_t* source = x + first * Shape::kStride + 8 * c;
#pragma unroll 4
      for (int row = threadIdx.x / Shape::kVectorThreads; row < kItems;
           row += Shape::kThreads / Shape::kVectorThreads) {
        uint4 vector = make_uint4(0, 0, 0, 0);
        if (row < rows_left) vector = *reinterpret_cast<const uint4*>(source + row * Shape::kStride);
        uint8_t* target = rows + row * Shape::kRow + 8 * c;
#pragma unroll
        for (int limb = 0; limb < kLimbsX; ++limb) {
          const uint32_t select = limb == 0 ? 0x6420 : 0x7531;
          *reinterpret_cast<uint2*>(target + limb * Shape::kRowsBytes) = make_uint2(
              __byte_perm(vector.x, vector.y, select) & low_mask, __byte_perm(vector.z, vector.w, select) & high_mask);
        }
      }
    }
  }

  __device__ __forceinline__ static uint32_t mask_from_n(int at) {
    const int valid = N - at;
    return valid >= 4 ? 0xffffffffu : valid <= 0 ? 0u : (1u << (8 * valid)) - 1;
  }

  __device__ __forceinline__ void multiply() {
    constexpr int kPasses = kKind == MulKind::kGeneral ? 3 : Shape::kLimbsWide;
#pragma unroll
    for (int i = 0; i < 64; ++i)
      sum[i / 32][i / 4 % 8][i % 4] = 0;
#pragma unroll
    for (int i = 0; i < 8; ++i)
      tail[i / 4][i % 4] = 0;
#pragma unroll 1
    for (int pass = 0; pass < kPasses; ++pass) {
      const bool low = pass == kPasses - 1;
      const int limb_x = kLimbsX == 1 ? 0 : kKind == MulKind::kGeneral ? pass == 0 : !low;
      const int limb_s = kLimbsS == 1 ? 0 : kKind == MulKind::kGeneral ? pass == 1 : !low;
      if (kPasses > 1 && low) {
#pragma unroll
        for (int i = 0; i < 64; ++i)
          sum[i / 32][i / 4 % 8][i % 4] <<= 8;
      }
      add_limb_product(rows + limb_x * Shape::kRowsBytes, copies + limb_s * Shape::kCopiesBytes);
    }
  }

  __device__ __forceinline__ void add_limb_product(const uint8_t* x_limb, const uint8_t* s_limb) {
    const unsigned row = lane / 4;
    // ldmatrix: lanes point at the rows of items 0..7 and 8..15, then at the same sixteen bytes later.
    const uint32_t x =
        static_cast<uint32_t>(__cvta_generic_to_shared(x_limb)) + lane % 16 * Shape::kRow + lane / 16 * 16;
    const uint8_t* s = s_limb + row * Shape::kCopy + Shape::kZero + lane % 4 * 4 - 64 * group;
    uint32_t window[8][2];
#pragma unroll
    for (int tile = 4; tile < 8; ++tile)
      load_pair(window[tile], s - 8 * tile);
    static_assert(Shape::kSteps >= 2);
#pragma unroll 2
    for (int step = 0; step < Shape::kSteps; ++step) {
      // Tile t of this step is tile t + 4 of the next one.
      uint32_t fresh[4][2];
#pragma unroll
      for (int tile = 0; tile < 4; ++tile)
        load_pair(fresh[tile], s + 32 * step - 8 * tile);
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        uint32_t items[4];
        load_matrices(items, x + 16 * half * Shape::kRow + 32 * step);
#pragma unroll
        for (int tile = 0; tile < 4; ++tile) {
          multiply_add(sum[half][tile], items, fresh[tile]);
          multiply_add(sum[half][tile + 4], items, window[tile + 4]);
        }
        if constexpr (kKind == MulKind::kS3) {
          uint32_t end[2];
          load_pair(end, s + 64 * group + 32 * step - (N - 5));
          multiply_add(tail[half], items, end);
        }
      }
#pragma unroll
      for (int tile = 0; tile < 4; ++tile) {
        window[tile + 4][0] = fresh[tile][0];
        window[tile + 4][1] = fresh[tile][1];
      }
    }
  }

  __device__ __forceinline__ static void multiply_add(int (&d)[4], const uint32_t (&x)[4], const uint32_t (&s)[2]) {
    mma_16x8x32<kTernary && kSharedWide, kTernary && !kSharedWide>(d, x, s);
  }

  __device__ __forceinline__ static void load_pair(uint32_t (&pair)[2], const uint8_t* source) {
    pair[0] = *reinterpret_cast<const uint32_t*>(source);
    pair[1] = *reinterpret_cast<const uint32_t*>(source + 16);
  }

  /// Stores the existing rows of c from `first` on.
  __device__ __forceinline__ void store(uint16_t* c, size_t first, size_t count, uint32_t mask) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
      for (int upper = 0; upper < 2; ++upper) {
        const size_t item = first + 16 * half + 8 * upper + lane / 4;
        // Column N-1 is column 4 of the tile that begins at N - 5.
        const int last =
            kKind == MulKind::kS3 ? 2 * __shfl_sync(kAllLanes, tail[half][2 * upper], lane / 4 * 4 + 2) : 0;
        if (item >= count) continue;
        uint32_t* row = reinterpret_cast<uint32_t*>(c + item * Shape::kStride);
#pragma unroll
        for (int tile = 0; tile < 8; ++tile) {
          const int at = 64 * group + 8 * tile + 2 * (lane % 4);
          if (at >= Shape::kStride) continue;
          row[at / 2] = finish(sum[half][tile][2 * upper], sum[half][tile][2 * upper + 1], at, last, mask);
        }
      }
    }
  }

  __device__ __forceinline__ uint32_t finish(uint32_t low, uint32_t high, int at, int last, uint32_t mask) const {
    if constexpr (kKind == MulKind::kS3) {
      low = mod3(low + last);
      high = mod3(high + last);
    }
    uint32_t pair = __byte_perm(low, high, 0x5410);
    if constexpr (kKind != MulKind::kS3) pair &= mask;
    return at >= N ? 0 : at + 1 >= N ? pair & 0xffff : pair;
  }
};

template <int N, MulKind kKind, bool kSharedWide>
__global__ void __launch_bounds__((SharedShape<N, kKind>::kThreads), 1)
    imma_shared_kernel(const uint16_t* x, const uint16_t* s, uint16_t* c, size_t count, uint32_t mask) {
  using Shape = SharedShape<N, kKind>;
  extern __shared__ __align__(128) uint8_t arena[];
  SharedProduct<N, kKind, kSharedWide> product(arena);
  product.stage_shared(s);
  const size_t stride = static_cast<size_t>(gridDim.x) * kItems;
  for (size_t first = blockIdx.x * size_t{kItems}; first < count; first += stride) {
    product.stage_items(x, first, count);
    __syncthreads();
    if (product.group < Shape::kGroups) {
      product.multiply();
      product.store(c, first, count, mask);
    }
    __syncthreads();
  }
}

template <int N, MulKind kKind, bool kSharedWide>
cudaError_t launch(const MulArgs& args, bool shared_a, cudaStream_t stream) {
  using Shape = SharedShape<N, kKind>;
  using Product = SharedProduct<N, kKind, kSharedWide>;
  const auto kernel = imma_shared_kernel<N, kKind, kSharedWide>;
  int device = 0;
  int multiprocessors = 0;
  int per_multiprocessor = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess) error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  if (error == cudaSuccess) {
    error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Product::kShared);
  }
  if (error == cudaSuccess) {
    error =
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_multiprocessor, kernel, Shape::kThreads, Product::kShared);
  }
  if (error != cudaSuccess) return error;
  const size_t tiles = (args.count + kItems - 1) / kItems;
  const size_t resident = (static_cast<size_t>(multiprocessors) * per_multiprocessor + 1) / 2;
  const dim3 blocks(static_cast<unsigned>(tiles < resident ? tiles : resident), 2);
  kernel<<<blocks, Shape::kThreads, Product::kShared, stream>>>(shared_a ? args.b : args.a, shared_a ? args.a : args.b,
                                                                args.c, args.count, args.mask);
  return cudaGetLastError();
}

}  // namespace

cudaError_t launch_imma_shared(MulKind kind, size_t n, const MulArgs& args, cudaStream_t stream) {
  const bool shared_a = args.a_stride == 0;
  return with_degree_and_kind(n, kind, [&]<int N, MulKind kKind>() {
    if constexpr (N > 821) {
      return cudaErrorInvalidValue;
    } else if constexpr (kKind == MulKind::kTernary) {
      return shared_a ? launch<N, kKind, true>(args, true, stream) : launch<N, kKind, false>(args, false, stream);
    } else {
      return launch<N, kKind, true>(args, shared_a, stream);
    }
  });
}

}  // namespace polykem::cuda
