// SPDX-License-Identifier: Apache-2.0
// A large product of signed bytes by unsigned 16-bit words on int8 tensor cores. The words are split into two limbs of
// one byte each. One block of threads computes 128 x 64 sums. Both operands have their inner dimension contiguous.
#pragma once

#include "prim/cuda/copy.cuh"
#include "prim/polymul/cuda/imma.cuh"

namespace polykem::cuda {

/// The rows and columns of a block's tile and of a warp's, the inner elements of a step, and the threads of a block.
/// docs/adr/0018 has the figures of other shapes.
inline constexpr int kGemmRows = 128, kGemmColumns = 64, kGemmWarpRows = 64, kGemmWarpColumns = 32, kGemmInner = 128;
inline constexpr int kGemmThreads = 32 * (kGemmRows / kGemmWarpRows) * (kGemmColumns / kGemmWarpColumns);
/// The shared memory of two steps, afterwards that of the sums, in rows of kGemmStride words of 16 bits.
inline constexpr int kGemmStepBytes = (kGemmRows + 2 * kGemmColumns) * kGemmInner;
inline constexpr int kGemmShared = 2 * kGemmStepBytes;
inline constexpr int kGemmStride = kGemmColumns + 8;

/// Returns the offset of a piece of 16 bytes of a row in a step's shared memory. It is swizzled: the same piece of
/// eight neighbouring rows is in distinct banks.
__device__ __forceinline__ uint32_t swizzled_offset(uint32_t row, uint32_t piece) {
  static_assert(kGemmInner == 128);
  return row * kGemmInner + (piece ^ row % 8) * 16;
}

/// A block's tile of the product. All kGemmThreads threads make every call together.
class GemmTile {
 public:
  __device__ __forceinline__ explicit GemmTile(uint8_t* shared)
      : shared_(shared),
        lane_(threadIdx.x % 32),
        first_row_(threadIdx.x / 32 / kWarpsAcross * kGemmWarpRows),
        first_column_(threadIdx.x / 32 % kWarpsAcross * kGemmWarpColumns) {
    const uint32_t matrix = lane_ / 8, line = lane_ % 8, base = static_cast<uint32_t>(__cvta_generic_to_shared(shared));
    s_ = base + swizzled_offset(first_row_ + matrix % 2 * 8 + line, matrix / 2);
    a_ = base + swizzled_offset(kGemmRows + first_column_ + matrix / 2 * 8 + line, matrix % 2);
  }

  /// Adds the products of `steps` steps to the sums. rows + row(r): row r of the bytes, 0 <= r < kGemmRows.
  /// columns + column(limb, c): the limb's bytes of column c, 0 <= c < kGemmColumns. Both are 16-byte aligned and
  /// steps * kGemmInner long.
  template <class Row, class Column>
  __device__ __forceinline__ void multiply(uint32_t steps, const uint8_t* rows, Row row, const uint8_t* columns,
                                           Column column) {
    constexpr uint32_t kPieces = kGemmInner / 16, kLines = kGemmThreads / kPieces;
    static_assert(kGemmRows % kLines == 0 && 2 * kGemmColumns % kLines == 0 && kLines % 8 == 0);
    const uint32_t line = threadIdx.x / kPieces, piece = threadIdx.x % kPieces;
    uint8_t* const first = shared_ + swizzled_offset(line, piece);
    const auto fetch = [&](uint32_t step) {
      uint8_t* to = first + step % 2 * kGemmStepBytes;
      const uint32_t from = step * kGemmInner + 16 * piece;
#pragma unroll
      for (uint32_t r = line; r < kGemmRows + line; r += kLines, to += kLines * kGemmInner)
        begin_copy_by_l2(to, rows + (row(r) + from));
#pragma unroll
      for (uint32_t c = line; c < 2 * kGemmColumns + line; c += kLines, to += kLines * kGemmInner) {
        const uint32_t offset = column(c / kGemmColumns, c % kGemmColumns);
        begin_copy_by_l2(to, columns + (offset + from));
      }
    };
    fetch(0);
#pragma unroll 1
    for (uint32_t step = 0; step < steps; ++step) {
      end_copies();
      __syncthreads();
      if (step + 1 < steps) fetch(step + 1);
      add_step(step % 2 * kGemmStepBytes);
    }
  }

  /// Writes the sums mod 2^16 to shared memory, row r at to + r * kGemmStride; `to` may be where the operands were.
  __device__ __forceinline__ void store(uint16_t* to) const {
    __syncthreads();
#pragma unroll
    for (int m = 0; m < kSixteens; ++m) {
#pragma unroll
      for (int c = 0; c < kEights; ++c) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const uint32_t row = first_row_ + 16 * m + 8 * half + lane_ / 4;
          const uint32_t column = first_column_ + 8 * c + 2 * (lane_ % 4);
          const int low = sum_[0][c][m][2 * half] + (sum_[1][c][m][2 * half] << 8);
          const int high = sum_[0][c][m][2 * half + 1] + (sum_[1][c][m][2 * half + 1] << 8);
          *reinterpret_cast<uint32_t*>(to + row * kGemmStride + column) = __byte_perm(low, high, 0x5410);
        }
      }
    }
    __syncthreads();
  }

 private:
  static constexpr int kWarpsAcross = kGemmColumns / kGemmWarpColumns;
  static constexpr int kSixteens = kGemmWarpRows / 16, kEights = kGemmWarpColumns / 8;

  /// Adds the products of a step, 32 inner elements at a time. Bits 5 and 6 of the swizzled addresses of elements 32 k,
  /// .. are those of the first elements exclusive-ored with k.
  __device__ __forceinline__ void add_step(uint32_t buffer) {
#pragma unroll
    for (uint32_t k = 0; k < kGemmInner / 32; ++k) {
      uint32_t s[kSixteens][4];
#pragma unroll
      for (int m = 0; m < kSixteens; ++m)
        load_matrices(s[m], (s_ ^ 32 * k) + buffer + 16 * m * kGemmInner);
#pragma unroll
      for (int limb = 0; limb < 2; ++limb) {
#pragma unroll
        for (int two = 0; two < kEights / 2; ++two) {
          uint32_t a[4];
          load_matrices(a, (a_ ^ 32 * k) + buffer + (limb * kGemmColumns + 16 * two) * kGemmInner);
#pragma unroll
          for (int m = 0; m < kSixteens; ++m) {
            mma_16x8x32<true, false>(sum_[limb][2 * two][m], s[m], {a[0], a[1]});
            mma_16x8x32<true, false>(sum_[limb][2 * two + 1][m], s[m], {a[2], a[3]});
          }
        }
      }
    }
  }

  uint8_t* const shared_;
  const uint32_t lane_, first_row_, first_column_;
  uint32_t s_, a_;                          ///< the addresses of this lane's rows for ldmatrix
  int sum_[2][kEights][kSixteens][4] = {};  ///< limb, eight columns, sixteen rows
};

}  // namespace polykem::cuda
