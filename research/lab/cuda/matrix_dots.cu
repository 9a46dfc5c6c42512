// SPDX-License-Identifier: Apache-2.0
// Computes S' A by multiply-adds of CUDA cores. A is read once for the rows that a block computes. A thread computes
// four columns: it takes four words of each of four rows of A at a time, and converts them to operands of its
// instruction.
#include "matrix.cuh"

namespace polykem::lab {

namespace {

constexpr int kThreads = 64, kColumns = 4 * kThreads;

/// Words of four rows of A: row k, columns 0 and 1, columns 2 and 3.
using FourRows = uint2[4];

struct MatrixImad {
  template <int kRows>
  __device__ static void add(int (&sum)[kRows][4], const FourRows& a, const int8_t* s, uint32_t n) {
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
      const auto four = *reinterpret_cast<const char4*>(s + row * n);
      const int factors[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        sum[row][0] += factors[k] * static_cast<int>(a[k].x & 0xffff);
        sum[row][1] += factors[k] * static_cast<int>(a[k].x >> 16);
        sum[row][2] += factors[k] * static_cast<int>(a[k].y & 0xffff);
        sum[row][3] += factors[k] * static_cast<int>(a[k].y >> 16);
      }
    }
  }
};

struct MatrixDp2a {
  template <int kRows>
  __device__ static void add(int (&sum)[kRows][4], const FourRows& a, const int8_t* s, uint32_t n) {
    uint32_t pairs[2][4];  // rows 0 and 1, 2 and 3
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      pairs[k][0] = __byte_perm(a[2 * k].x, a[2 * k + 1].x, 0x5410);
      pairs[k][1] = __byte_perm(a[2 * k].x, a[2 * k + 1].x, 0x7632);
      pairs[k][2] = __byte_perm(a[2 * k].y, a[2 * k + 1].y, 0x5410);
      pairs[k][3] = __byte_perm(a[2 * k].y, a[2 * k + 1].y, 0x7632);
    }
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
      const int factors = *reinterpret_cast<const int*>(s + row * n);
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        sum[row][j] = __dp2a_lo(static_cast<int>(pairs[0][j]), factors, sum[row][j]);
        sum[row][j] = __dp2a_hi(static_cast<int>(pairs[1][j]), factors, sum[row][j]);
      }
    }
  }
};

__device__ __forceinline__ int dp4a_mixed(uint32_t t, int b, int sum) {
  asm("dp4a.u32.s32 %0, %1, %2, %0;" : "+r"(sum) : "r"(t), "r"(b));
  return sum;
}

/// A sum for each limb would take too many registers, so every step shifts its products before adding them.
struct MatrixDp4a {
  template <int kRows>
  __device__ static void add(int (&sum)[kRows][4], const FourRows& a, const int8_t* s, uint32_t n) {
    uint32_t low[4], high[4];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const uint32_t w[4] = {half == 0 ? a[0].x : a[0].y, half == 0 ? a[1].x : a[1].y, half == 0 ? a[2].x : a[2].y,
                             half == 0 ? a[3].x : a[3].y};
      const uint32_t low01 = __byte_perm(w[0], w[1], 0x6240), low23 = __byte_perm(w[2], w[3], 0x6240);
      const uint32_t high01 = __byte_perm(w[0], w[1], 0x7351), high23 = __byte_perm(w[2], w[3], 0x7351);
      low[2 * half] = __byte_perm(low01, low23, 0x5410);
      low[2 * half + 1] = __byte_perm(low01, low23, 0x7632);
      high[2 * half] = __byte_perm(high01, high23, 0x5410);
      high[2 * half + 1] = __byte_perm(high01, high23, 0x7632);
    }
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
      const int factors = *reinterpret_cast<const int*>(s + row * n);
#pragma unroll
      for (int j = 0; j < 4; ++j)
        sum[row][j] = dp4a_mixed(low[j], factors, sum[row][j]) + (dp4a_mixed(high[j], factors, 0) << 8);
    }
  }
};

/// blockIdx.x: columns, y: rows, z: A.
template <class MulUnit, int kRows>
__global__ void __launch_bounds__(kThreads) matrix_dots_kernel(MatrixArgs args) {
  extern __shared__ __align__(16) uint8_t arena[];
  auto* const s = reinterpret_cast<int8_t*>(arena);
  const uint32_t n = args.n, first = blockIdx.y * kRows;
  const size_t rows_before = size_t{blockIdx.z} * args.rows + first;
  const uint32_t rows = args.rows - first < kRows ? args.rows - first : kRows;
  for (uint32_t i = 4 * threadIdx.x; i < kRows * n; i += 4 * kThreads)
    *reinterpret_cast<uint32_t*>(s + i) =
        i < rows * n ? *reinterpret_cast<const uint32_t*>(args.s + rows_before * n + i) : 0;
  __syncthreads();
  const uint32_t column = blockIdx.x * kColumns + 4 * threadIdx.x;
  if (column >= n) return;
  const uint16_t* a = args.a + blockIdx.z * args.a_stride + column;
  int sum[kRows][4] = {};
#pragma unroll 2
  for (uint32_t k = 0; k < n; k += 4) {
    FourRows four;
#pragma unroll
    for (uint32_t i = 0; i < 4; ++i)
      four[i] = *reinterpret_cast<const uint2*>(a + size_t{k + i} * n);
    MulUnit::add(sum, four, s + k, n);
  }
#pragma unroll
  for (uint32_t row = 0; row < kRows; ++row) {
    if (row >= rows) break;
    const uint32_t mask = args.mask * 0x10001u;
    uint16_t* const c = args.c + (rows_before + row) * n + column;
    *reinterpret_cast<uint2*>(c) = make_uint2(__byte_perm(sum[row][0], sum[row][1], 0x5410) & mask,
                                              __byte_perm(sum[row][2], sum[row][3], 0x5410) & mask);
  }
}

/// kRows: the rows of a block, which are those of an item with its own A, or sixteen.
template <class MulUnit, int kRows>
class MatrixDotsJob : public MatrixRows {
 public:
  explicit MatrixDotsJob(const Operands& operands) : MatrixRows(operands) {
    const dim3 grid((args.n + kColumns - 1) / kColumns, (args.rows + kRows - 1) / kRows,
                    static_cast<unsigned>(operands.sharing == Sharing::kA ? 1 : operands.items));
    use(matrix_dots_kernel<MulUnit, kRows>, grid, kThreads, size_t{kRows} * args.n, args);
  }
};

template <class MulUnit>
std::unique_ptr<Job> start(const Operands& operands) {
  if (operands.sharing == Sharing::kA) return std::make_unique<MatrixDotsJob<MulUnit, 16>>(operands);
  if (operands.problem.rows == 1) return std::make_unique<MatrixDotsJob<MulUnit, 1>>(operands);
  return std::make_unique<MatrixDotsJob<MulUnit, 8>>(operands);
}

bool supports(const Problem& problem, Sharing sharing) {
  return is_matrix(problem) && sharing != Sharing::kB;
}
template <Unit kUnit>
Work work(const Problem& problem, Sharing sharing) {
  return {kUnit, (kUnit == Unit::kDp4a ? 2 : 1) * problem.products(), matrix_bytes(problem, sharing)};
}

const Registration kMatrixDots({
    {"int32", "cuda", "schoolbook, A read once for the rows of a block", supports, work<Unit::kImad>,
     start<MatrixImad>},
    {"dp2a", "cuda", "the same, two products of a word and a byte an instruction", supports, work<Unit::kDp2a>,
     start<MatrixDp2a>},
    {"dp4a", "cuda", "the same, four products of bytes an instruction", supports, work<Unit::kDp4a>, start<MatrixDp4a>},
});

}  // namespace

}  // namespace polykem::lab
