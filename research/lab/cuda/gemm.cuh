// SPDX-License-Identifier: Apache-2.0
// Multiplies many rows of signed bytes by one matrix on int8 tensor cores. A block keeps all inner elements of its
// columns in shared memory and loads the rows in stages; each of its eight warps has 64 x 64 sums. Words of the matrix
// are stored as two limbs of a byte.
#pragma once

#include "pipeline.cuh"
#include "prim/polymul/cuda/imma.cuh"
#include "ring.cuh"

namespace polykem::lab {

/// kRows, kPlaces: the size of a block's tile; a place is a column of one limb. kInner: bytes of a row in a stage.
template <int kLimbCount, int kTileRows, int kTilePlaces, int kStageInner, int kStageCount>
struct GemmShape {
  static constexpr int kLimbs = kLimbCount, kRows = kTileRows, kPlaces = kTilePlaces, kInner = kStageInner,
                       kStages = kStageCount;
  static constexpr int kColumns = kPlaces / kLimbs;
  static constexpr int kWarpRows = 64, kWarpPlaces = 64, kWarpColumns = kWarpPlaces / kLimbs;
  static constexpr int kAcross = kPlaces / kWarpPlaces, kThreads = 32 * (kRows / kWarpRows) * kAcross;
  static constexpr int kStageBytes = kRows * kInner;
  static constexpr int kStepBytes = kPlaces * kInner;  ///< bytes of the matrix
  using Out = std::conditional_t<kLimbs == 1, uint8_t, uint16_t>;

  /// Returns the offset of a piece of 16 bytes of a line. It is swizzled: the same piece of eight lines is in distinct
  /// banks.
  __host__ __device__ static constexpr uint32_t swizzled_offset(uint32_t line, uint32_t piece) {
    return line * kInner + (piece ^ (kInner == 128 ? line % 8 : line / 2 % 4)) * 16;
  }
  /// The column and the limb of a place. A thread gets two neighbours of each eight: here those of two times eight are
  /// four neighbouring columns.
  static constexpr int limb_of(int at) { return at % kWarpPlaces / kWarpColumns; }
  static constexpr int column_of(int at) {
    const int in_warp = at % kWarpColumns, in_16 = in_warp % 16;
    return at / kWarpPlaces * kWarpColumns + in_warp / 16 * 16 + in_16 % 8 / 2 * 4 + in_16 / 8 * 2 + in_16 % 2;
  }
  static constexpr size_t shared_bytes(uint32_t steps) {
    return size_t{steps} * kStepBytes + size_t{kStages} * kStageBytes;
  }
};

template <class Shape>
struct GemmArgs {
  const int8_t* rows;      ///< count rows, row_stride bytes apart, 16-byte aligned
  const uint8_t* matrix;   ///< an image of shared memory for each of `tiles` tiles of columns
  typename Shape::Out* c;  ///< c_stride apart, a multiple of 16
  uint32_t count, row_stride, c_stride, steps, tiles;
  Modulus modulus;
};

/// The sums of a block. All threads make every call together.
template <class Shape>
class GemmSums {
 public:
  __device__ __forceinline__ GemmSums(uint32_t stages, uint32_t matrix)
      : lane_(threadIdx.x % 32),
        first_row_(threadIdx.x / 32 / Shape::kAcross * Shape::kWarpRows),
        warp_across_(threadIdx.x / 32 % Shape::kAcross) {
    const uint32_t part = lane_ / 8, line = lane_ % 8;
    rows_ = stages + Shape::swizzled_offset(first_row_ + part % 2 * 8 + line, part / 2);
    matrix_ = matrix + Shape::swizzled_offset(warp_across_ * Shape::kWarpPlaces + part / 2 * 8 + line, part % 2);
    clear();
  }

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int i = 0; i < kSums; ++i)
      sum_[i / 16][i / 4 % 4][i % 4] = 0;
  }

  /// Adds one stage, kInner inner elements.
  __device__ __forceinline__ void add(uint32_t stage, uint32_t step) {
#pragma unroll
    for (uint32_t k = 0; k < Shape::kInner / 32; ++k) {
      uint32_t x[4][4];
#pragma unroll
      for (int m = 0; m < 4; ++m)
        cuda::load_matrices(x[m], (rows_ ^ 32 * k) + stage * Shape::kStageBytes + 16 * m * Shape::kInner);
#pragma unroll
      for (int two = 0; two < 4; ++two) {
        uint32_t t[4];
        cuda::load_matrices(t, (matrix_ ^ 32 * k) + step * Shape::kStepBytes + 16 * two * Shape::kInner);
#pragma unroll
        for (int m = 0; m < 4; ++m) {
          cuda::mma_16x8x32<true, false>(sum_[2 * two][m], x[m], {t[0], t[1]});
          cuda::mma_16x8x32<true, false>(sum_[2 * two + 1][m], x[m], {t[2], t[3]});
        }
      }
    }
  }

  /// Stores the tile whose first row is `first`, columns from first_column on.
  __device__ __forceinline__ void store(const GemmArgs<Shape>& args, uint32_t first, uint32_t first_column) const {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const int m = i / 2, half = i % 2;
      const uint32_t row = first + first_row_ + 16 * m + 8 * half + lane_ / 4;
      if (row >= args.count) continue;
      auto* const c = args.c + size_t{row} * args.c_stride;
#pragma unroll
      for (int sixteen = 0; sixteen < Shape::kWarpColumns / 16; ++sixteen) {
        const uint32_t column = first_column + warp_across_ * Shape::kWarpColumns + 16 * sixteen + lane_ % 4 * 4;
        if (column >= args.c_stride) continue;
        uint32_t value[4];
#pragma unroll
        for (int j = 0; j < 4; ++j)
          value[j] = args.modulus.reduce(sum(2 * sixteen + j / 2, m, 2 * half + j % 2));
        write(c + column, value);
      }
    }
  }

 private:
  static constexpr int kSums = 8 * 4 * 4;

  __device__ __forceinline__ int sum(int eight, int m, int i) const {
    if constexpr (Shape::kLimbs == 1) return sum_[eight][m][i];
    return sum_[eight][m][i] + (sum_[4 + eight % 4][m][i] << 8);
  }
  __device__ __forceinline__ static void write(uint8_t* c, const uint32_t (&value)[4]) {
    *reinterpret_cast<uint32_t*>(c) = value[0] | value[1] << 8 | value[2] << 16 | value[3] << 24;
  }
  __device__ __forceinline__ static void write(uint16_t* c, const uint32_t (&value)[4]) {
    *reinterpret_cast<uint2*>(c) = make_uint2(value[0] | value[1] << 16, value[2] | value[3] << 16);
  }

  const uint32_t lane_, first_row_, warp_across_;
  uint32_t rows_, matrix_;  ///< the addresses of this lane's lines for ldmatrix
  int sum_[8][4][4];        ///< eight places, sixteen rows; with two limbs the upper half is the high one
};

/// Begins to copy a stage of rows. Memory beyond a row's end is not written, and is multiplied by zeros of the matrix.
template <class Shape>
__device__ __forceinline__ void fetch_rows(uint8_t* stage, const GemmArgs<Shape>& args, uint32_t first, uint32_t step) {
  constexpr uint32_t kPieces = Shape::kInner / 16;
  const uint32_t sixteen = threadIdx.x % kPieces, from = step * Shape::kInner + 16 * sixteen;
#pragma unroll
  for (uint32_t line = threadIdx.x / kPieces; line < Shape::kRows; line += Shape::kThreads / kPieces) {
    const uint32_t row = first + line < args.count ? first + line : args.count - 1;
    if (from < args.row_stride)
      cuda::begin_copy_by_l2(stage + Shape::swizzled_offset(line, sixteen),
                             args.rows + (size_t{row} * args.row_stride + from));
  }
}

template <class Shape>
__global__ void __launch_bounds__(Shape::kThreads, 1) gemm_kernel(GemmArgs<Shape> args) {
  extern __shared__ __align__(128) uint8_t arena[];
  uint8_t* const stages = arena;
  uint8_t* const matrix = arena + Shape::kStages * Shape::kStageBytes;
  const uint32_t tile = blockIdx.x % args.tiles, first = blockIdx.x / args.tiles, apart = gridDim.x / args.tiles;
  const uint32_t row_tiles = (args.count + Shape::kRows - 1) / Shape::kRows;
  const uint32_t bytes = args.steps * Shape::kStepBytes;
  for (uint32_t i = 16 * threadIdx.x; i < bytes; i += 16 * Shape::kThreads)
    cuda::begin_copy_by_l2(matrix + i, args.matrix + size_t{tile} * bytes + i);
  // Stages continue across tiles of rows; (fetch_tile, fetch_step) is the next one to fetch.
  uint32_t fetch_tile = first, fetch_step = 0, fetch_to = 0;
  const auto fetch = [&] {
    if (fetch_tile < row_tiles)
      fetch_rows(stages + fetch_to * Shape::kStageBytes, args, fetch_tile * Shape::kRows, fetch_step);
    close_copies();
    fetch_to = fetch_to + 1 == Shape::kStages ? 0 : fetch_to + 1;
    if (++fetch_step == args.steps) {
      fetch_step = 0;
      fetch_tile += apart;
    }
  };
#pragma unroll
  for (int i = 0; i < Shape::kStages - 1; ++i)
    fetch();
  GemmSums<Shape> sums(static_cast<uint32_t>(__cvta_generic_to_shared(stages)),
                       static_cast<uint32_t>(__cvta_generic_to_shared(matrix)));
  uint32_t stage = 0;
#pragma unroll 1
  for (uint32_t row_tile = first; row_tile < row_tiles; row_tile += apart) {
#pragma unroll 1
    for (uint32_t step = 0; step < args.steps; ++step) {
      await_copies<Shape::kStages - 2>();
      __syncthreads();
      fetch();
      sums.add(stage, step);
      stage = stage + 1 == Shape::kStages ? 0 : stage + 1;
    }
    sums.store(args, row_tile * Shape::kRows, tile * Shape::kColumns);
    sums.clear();
  }
}

}  // namespace polykem::lab
