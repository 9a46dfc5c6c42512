// SPDX-License-Identifier: Apache-2.0
// Computes S' A on tensor cores for items that each have their own A, so that device memory bounds the time. A block
// streams 128 columns of one A through shared memory, and a warp multiplies 32 of them by eight rows of S'. The two
// bytes of a word of A take two places of the tile's inner index (schemes/frodo/matmul/cuda/tile.cuh).
#include "matrix.cuh"
#include "pipeline.cuh"
#include "schemes/frodo/matmul/cuda/tile.cuh"

namespace polykem::lab {

namespace {

constexpr int kThreads = 128, kColumns = 128, kRowsOfTile = 8;
constexpr int kStages = 4, kStep = 32;    ///< rows of A in one stage
constexpr int kLine = 2 * kColumns + 16;  ///< bytes of a row of A, so that eight rows are in distinct banks
constexpr int kStageBytes = kStep * kLine;

/// Returns the bytes of a row of S', which are zeros from n on.
constexpr uint32_t s_stride(uint32_t n) {
  return (n + kStep - 1) / kStep * kStep + 16;
}
constexpr size_t shared_bytes(uint32_t n) {
  return size_t{kStages} * kStageBytes + size_t{kRowsOfTile} * s_stride(n);
}

/// Begins to copy rows of A's columns from row k on. Memory for elements outside A is not written.
__device__ __forceinline__ void fetch(uint8_t* stage, const uint16_t* a, uint32_t n, uint32_t k, uint32_t column) {
  constexpr uint32_t kPieces = kColumns / 8;
#pragma unroll
  for (uint32_t i = threadIdx.x; i < kStep * kPieces; i += kThreads) {
    const uint32_t row = i / kPieces, piece = i % kPieces;
    if (k + row < n && column + 8 * piece < n)
      cuda::begin_copy_by_l2(stage + row * kLine + 16 * piece, a + size_t{k + row} * n + column + 8 * piece);
  }
  close_copies();
}

/// The sums of a warp: 32 columns in two groups of 16, for low and high bytes.
struct Sums {
  int of[2][2][4] = {};
};

__device__ __forceinline__ void multiply(Sums& sums, const uint8_t* stage, const int8_t* s, uint32_t stride,
                                         uint32_t k) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, matrix = lane / 8;
  const auto address = static_cast<uint32_t>(__cvta_generic_to_shared(stage)) + (matrix / 2 * 8 + lane % 8) * kLine +
                       matrix % 2 * 16 + warp * 64;
#pragma unroll
  for (uint32_t half = 0; half < 2; ++half) {
    uint32_t factors[2];
#pragma unroll
    for (uint32_t part = 0; part < 2; ++part) {
      const uint32_t at = k + 16 * half + 8 * part + lane % 4 * 2;
      factors[part] = cuda::spread_bytes(*reinterpret_cast<const uint16_t*>(s + lane / 4 * stride + at));
    }
#pragma unroll
    for (uint32_t group = 0; group < 2; ++group) {
      uint32_t a[4];
      cuda::load_matrices_transposed(a, address + half * 16 * kLine + group * 32);
      cuda::mma_16x8x32<false, true>(sums.of[group][0], a, {factors[0], factors[1]});
      cuda::mma_16x8x32<false, true>(sums.of[group][1], a, {factors[0] << 8, factors[1] << 8});
    }
  }
}

/// blockIdx.x: columns, y: rows of S', z: item.
__global__ void __launch_bounds__(kThreads) matrix_imma_kernel(MatrixArgs args) {
  extern __shared__ __align__(128) uint8_t arena[];
  auto* const s = reinterpret_cast<int8_t*>(arena + kStages * kStageBytes);
  const uint32_t n = args.n, stride = s_stride(n), first = blockIdx.y * kRowsOfTile, column = blockIdx.x * kColumns;
  const size_t rows_before = size_t{blockIdx.z} * args.rows + first;
  const uint16_t* a = args.a + blockIdx.z * args.a_stride;
  const uint32_t steps = (n + kStep - 1) / kStep;
#pragma unroll
  for (uint32_t stage = 0; stage < kStages - 1; ++stage)
    fetch(arena + stage * kStageBytes, a, n, stage * kStep, column);
  for (uint32_t i = 4 * threadIdx.x; i < kRowsOfTile * stride; i += 4 * kThreads) {
    const uint32_t row = i / stride, at = i % stride;
    *reinterpret_cast<uint32_t*>(s + i) =
        first + row < args.rows && at < n ? *reinterpret_cast<const uint32_t*>(args.s + (rows_before + row) * n + at)
                                          : 0;
  }
  Sums sums;
#pragma unroll 1
  for (uint32_t step = 0; step < steps; ++step) {
    await_copies<kStages - 2>();
    __syncthreads();
    fetch(arena + (step + kStages - 1) % kStages * kStageBytes, a, n, (step + kStages - 1) * kStep, column);
    multiply(sums, arena + step % kStages * kStageBytes, s, stride, step * kStep);
  }
  const unsigned lane = threadIdx.x % 32;
#pragma unroll
  for (uint32_t i = 0; i < 8; ++i) {
    const uint32_t group = i / 4, row = lane % 4 * 2 + i % 2;
    const uint32_t at = column + threadIdx.x / 32 * 32 + group * 16 + i / 2 % 2 * 8 + lane / 4;
    const int sum = sums.of[group][0][i % 4] + (sums.of[group][1][i % 4] << 8);
    if (first + row < args.rows && at < n)
      args.c[(rows_before + row) * n + at] = static_cast<uint16_t>(static_cast<uint32_t>(sum) & args.mask);
  }
}

class MatrixImmaJob : public MatrixRows {
 public:
  explicit MatrixImmaJob(const Operands& operands) : MatrixRows(operands) {
    const dim3 grid((args.n + kColumns - 1) / kColumns, (args.rows + kRowsOfTile - 1) / kRowsOfTile,
                    static_cast<unsigned>(operands.items));
    use(matrix_imma_kernel, grid, kThreads, shared_bytes(args.n), args);
  }
};

std::unique_ptr<Job> start(const Operands& operands) {
  return std::make_unique<MatrixImmaJob>(operands);
}
bool supports(const Problem& problem, Sharing sharing) {
  return is_matrix(problem) && sharing == Sharing::kNone;
}
/// In both passes, the byte of A that is not needed is multiplied by a zero beside the byte of S'.
Work work(const Problem& problem, Sharing sharing) {
  return {Unit::kImma, 2 * problem.products(), matrix_bytes(problem, sharing)};
}

const Registration kMatrixImma({{"imma", "cuda", "int8 tensor cores, an A of its own for every item", supports, work,
                                 start}});

}  // namespace

}  // namespace polykem::lab
