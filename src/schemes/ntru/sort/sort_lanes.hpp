// SPDX-License-Identifier: Apache-2.0
// The fixed-weight sample: a constant-time sort with an item per vector lane.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/round.hpp"
#include "prim/simd/rows.hpp"

namespace polykem {

/// Returns the number of columns, a power of two, that hold `count` > 8 keys in at most 16 rows.
constexpr size_t network_columns(size_t count) {
  size_t columns = 1;
  while (16 * columns < count)
    columns *= 2;
  return columns;
}

/// Returns the number of keys of each of the two sequences in which n - 1 keys are sorted. A final merge joins them, so
/// that most passes stay in the L1 cache.
constexpr size_t sort_sequence_size(size_t n) {
  const size_t half = n / 2;
  return rounded_up(half, network_columns(half));
}

/// The number of vectors between the sequences. Without them, rows of both would meet in the same few sets of the L1
/// cache.
inline constexpr size_t kSequenceGap = 8;

/// Returns the bytes of workspace that sample_fixed_type needs for polynomials of n coefficients, n >= 33. lanes: as in
/// SortFunctions.
constexpr size_t sort_workspace_bytes(size_t n, size_t lanes) {
  constexpr size_t kSpare = 16;  // the keys are written 16 at a time
  return (2 * sort_sequence_size(n) + kSequenceGap + kSpare) * (lanes / 2) * sizeof(int32_t);
}

/// The functions of one instruction set for the NTRU stages of that set. Constant time: the positions compared depend
/// on n alone.
struct SortFunctions {
  size_t lanes;  ///< L, the number of interleaved items

  /// Samples `count` <= L items. The random bits of item i are ceil(30 (n-1) / 8) bytes at in.data + i * in.stride.
  /// Coefficient k of item i goes to out[k * L + i]. It is in {0, 1, 2}, with `weight` / 2 ones and as many twos;
  /// coefficient n-1 is 0. Lanes count..L-1 repeat the last item. n is odd; out and workspace are 64-byte aligned; the
  /// workspace holds secrets afterwards. [NTRU20, Fixed_Type]
  void (*sample_fixed_type)(uint16_t* out, ConstByteRows in, size_t count, size_t n, size_t weight, void* workspace);
};

extern const SortFunctions kSortAvx2;
extern const SortFunctions kSortAvx512;
extern const SortFunctions kSortNeon;

/// From this many items on, the network with an item per lane takes less time than one array after the other.
inline constexpr size_t kMinForSortNetwork = 6;

/// Returns the number of rows of the matrix of 16 columns that sorts `count` keys of one item.
constexpr size_t sort_matrix_rows(size_t count) {
  size_t rows = 32;
  while (16 * rows < count)
    rows *= 2;
  return rows;
}

/// Returns the bytes of workspace that RowSortFunctions needs for `count` polynomials of n coefficients: the network's
/// keys and labels, or the matrix of one item and its sorted copy.
constexpr size_t sort_rows_workspace_bytes(size_t n, size_t count) {
  const size_t matrices = 2 * sort_matrix_rows(n - 1) * 16 * sizeof(int32_t);
  const size_t network = sort_workspace_bytes(n, 32) + rounded_up(n, 64) * 16;
  return count < kMinForSortNetwork || network < matrices ? matrices : network;
}

/// The functions of one instruction set for items that lie one after the other.
struct RowSortFunctions {
  /// Samples any number of items, with the random bits of SortFunctions. Coefficient k of item i is byte k at
  /// out.data + i * out.stride. Rows are aligned to 64 bytes and have room for n coefficients rounded up to a multiple
  /// of 64; those from n - 1 on become 0. workspace: sort_rows_workspace_bytes(n, count), 64-byte aligned. [NTRU20,
  /// Fixed_Type]
  void (*sample_fixed_type)(ByteRows out, ConstByteRows in, size_t count, size_t n, size_t weight, void* workspace);
};

extern const RowSortFunctions kRowSortAvx512;
extern const RowSortFunctions kRowSortAmx;

}  // namespace polykem
