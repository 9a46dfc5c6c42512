// SPDX-License-Identifier: Apache-2.0
// Constant-time sorting of one array, for a single item. Included by one translation unit per instruction set.
//
// The array is a matrix with a power of two of rows and a run of consecutive elements in each lane. The lanes are
// sorted like independent arrays, then merged in pairs, fours, ... by exchanges between lanes. [KNUTH3, 5.3.4]
#pragma once

#include <cstring>

#include "schemes/ntru/sort/lanes/sort_columns.hpp"

namespace polykem::sort_lanes {
inline namespace POLYKEM_ISA {

/// The largest array that sort_single takes, and the bytes of workspace that it needs.
inline constexpr size_t kMaxKeys = 2048;
inline constexpr size_t kSortOneBytes = 2 * kMaxKeys * sizeof(int32_t);

/// A compare-exchange between lanes i and i ^ flip. Lanes with (i & bit) == 0 get the smaller element.
struct Exchange {
  V32 partner, keeps_smaller;

  Exchange(size_t flip, size_t bit) {
    alignas(64) int32_t index[V32::kLanes], mask[V32::kLanes];
    for (size_t i = 0; i < V32::kLanes; ++i) {
      index[i] = static_cast<int32_t>(i ^ flip);
      mask[i] = (i & bit) == 0 ? -1 : 0;
    }
    partner = V32::load(index);
    keeps_smaller = V32::load(mask);
  }

  POLYKEM_INLINE V32 operator()(V32 own, V32 partners_row) const {
    const V32 other = permuted(partners_row, partner);
    const V32 smaller = min_s(own, other);
    return select(keeps_smaller, smaller, larger_of(own, other, smaller));
  }
};

template <size_t kRows>
void merge_lanes(int32_t* x, size_t lanes) {
  constexpr size_t kWidth = V32::kLanes;
  const Exchange mirrored(lanes - 1, lanes / 2);
  for (size_t r = 0; r < kRows / 2; ++r) {
    int32_t *top = x + r * kWidth, *bottom = x + (kRows - 1 - r) * kWidth;
    const V32 a = V32::load(top), b = V32::load(bottom);
    mirrored(a, b).store(top);
    mirrored(b, a).store(bottom);
  }
  for (size_t distance = lanes / 4; distance > 0; distance /= 2) {
    const Exchange straight(distance, distance);
    for (size_t r = 0; r < kRows; ++r) {
      const V32 a = V32::load(x + r * kWidth);
      straight(a, a).store(x + r * kWidth);
    }
  }
  clean_columns<kRows>(x, kRows);
}

/// Sorts the matrix x of kRows rows into out, element i at out[i]. out and x: kRows * V32::kLanes integers, 64-byte
/// aligned.
template <size_t kRows>
void sort_matrix(int32_t* out, int32_t* x) {
  constexpr size_t kWidth = V32::kLanes;
  sort_columns<kRows>(x);
  for (size_t lanes = 2; lanes <= kWidth; lanes *= 2)
    merge_lanes<kRows>(x, lanes);
  for (size_t at = 0; at < kRows; at += kWidth) {
    V32::Reg r[kWidth];
    for (size_t i = 0; i < kWidth; ++i)
      r[i] = V32::load(x + (at + i) * kWidth).r;
    simd::transpose32(r);
    for (size_t lane = 0; lane < kWidth; ++lane)
      V32{r[lane]}.store(out + lane * kRows + at);
  }
}

/// Sorts `count` <= kMaxKeys signed integers ascending, in place. workspace: kSortOneBytes, 64-byte aligned; holds the
/// keys afterwards.
inline void sort_single(int32_t* values, size_t count, void* workspace) {
  auto* x = static_cast<int32_t*>(workspace);
  int32_t* sorted = x + kMaxKeys;
  size_t size = 32 * V32::kLanes;
  while (size < count)
    size *= 2;
  std::memcpy(x, values, count * sizeof *x);
  for (size_t i = count; i < size; ++i)
    x[i] = INT32_MAX;
  switch (size / V32::kLanes) {
    case 32:
      sort_matrix<32>(sorted, x);
      break;
    case 64:
      sort_matrix<64>(sorted, x);
      break;
    case 128:
      sort_matrix<128>(sorted, x);
      break;
    default:
      sort_matrix<256>(sorted, x);
      break;
  }
  std::memcpy(values, sorted, count * sizeof *values);
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::sort_lanes
