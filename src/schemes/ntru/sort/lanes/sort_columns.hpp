// SPDX-License-Identifier: Apache-2.0
// Constant-time sorting of one array in each 32-bit lane. Included by one translation unit per instruction set.
//
// The network is bitonic. Its merges begin with a mirrored comparison, so that every comparison sorts in ascending
// order: positions beyond the end then behave like +infinity and are left out. Several levels run on elements held in
// registers. [KNUTH3, 5.3.4]
#pragma once

#include "schemes/ntru/sort/lanes/exchange.hpp"

namespace polykem::sort_lanes {
inline namespace POLYKEM_ISA {

#ifdef POLYKEM_ISA_AVX512
inline constexpr unsigned kLevels = 4;  ///< the number of levels in registers: 16 elements in 32 registers
#else
inline constexpr unsigned kLevels = 3;  ///< 8 elements in 16 registers
#endif
inline constexpr size_t kGroup = size_t{1} << kLevels;

template <size_t kCount>
struct Columns {
  int32_t* keys;  ///< kCount rows of V32::kLanes

  /// Loads element `index`; +infinity beyond the end unless the caller knows that all are inside.
  template <bool kInside>
  POLYKEM_INLINE V32 get(size_t index) const {
    if (!kInside && index >= kCount) return V32::set1(INT32_MAX);
    return V32::load(keys + index * V32::kLanes);
  }
  template <bool kInside>
  POLYKEM_INLINE void put(size_t index, V32 value) const {
    if (kInside || index < kCount) value.store(keys + index * V32::kLanes);
  }
};

/// Runs half-cleaners at distances size/2, size/4, ..., 1 on a register array. kReversed: the array is in reverse
/// order.
template <size_t kSize, bool kReversed>
POLYKEM_INLINE void clean(V32 (&x)[kSize]) {
#pragma GCC unroll 4
  for (size_t distance = kSize / 2; distance > 0; distance /= 2) {
#pragma GCC unroll 16
    for (size_t i = 0; i < kSize; ++i) {
      if (i & distance) continue;
      if constexpr (kReversed) {
        compare_exchange(x[i + distance], x[i]);
      } else {
        compare_exchange(x[i], x[i + distance]);
      }
    }
  }
}

/// Sorts kGroup neighbouring elements.
template <bool kInside, class C>
POLYKEM_INLINE void sort_group(C columns, size_t base) {
  V32 x[kGroup];
#pragma GCC unroll 16
  for (size_t i = 0; i < kGroup; ++i)
    x[i] = columns.template get<kInside>(base + i);
#pragma GCC unroll 4
  for (size_t size = 2; size <= kGroup; size *= 2) {
#pragma GCC unroll 16
    for (size_t i = 0; i < kGroup; ++i) {
      if (i % size < size / 2) compare_exchange(x[i], x[i - i % size + size - 1 - i % size]);
    }
#pragma GCC unroll 4
    for (size_t distance = size / 4; distance > 0; distance /= 2) {
#pragma GCC unroll 16
      for (size_t i = 0; i < kGroup; ++i) {
        if (!(i & distance)) compare_exchange(x[i], x[i + distance]);
      }
    }
  }
#pragma GCC unroll 16
  for (size_t i = 0; i < kGroup; ++i)
    columns.template put<kInside>(base + i, x[i]);
}

/// Runs the mirrored comparison of a merge of `size` elements and the next kLevels - 1 levels, on one element of every
/// size/kGroup and its mirror images.
template <bool kInside, class C>
POLYKEM_INLINE void mirror_group(C columns, size_t base, size_t size, size_t offset) {
  constexpr size_t kHalf = kGroup / 2;
  const size_t step = size / kGroup;
  V32 low[kHalf], high[kHalf];
#pragma GCC unroll 8
  for (size_t k = 0; k < kHalf; ++k) {
    low[k] = columns.template get<kInside>(base + offset + k * step);
    high[k] = columns.template get<kInside>(base + size - 1 - offset - k * step);
    compare_exchange(low[k], high[k]);
  }
  clean<kHalf, false>(low);
  clean<kHalf, true>(high);
#pragma GCC unroll 8
  for (size_t k = 0; k < kHalf; ++k) {
    columns.template put<kInside>(base + offset + k * step, low[k]);
    columns.template put<kInside>(base + size - 1 - offset - k * step, high[k]);
  }
}

/// Runs half-cleaners at distances step * kSize/2, ..., step on kSize elements that are `step` apart.
template <size_t kSize, bool kInside, class C>
POLYKEM_INLINE void clean_group(C columns, size_t base, size_t step) {
  V32 x[kSize];
#pragma GCC unroll 16
  for (size_t k = 0; k < kSize; ++k)
    x[k] = columns.template get<kInside>(base + k * step);
  clean<kSize, false>(x);
#pragma GCC unroll 16
  for (size_t k = 0; k < kSize; ++k)
    columns.template put<kInside>(base + k * step, x[k]);
}

/// Runs clean_group once over all elements.
template <size_t kSize, size_t kCount>
void clean_pass(Columns<kCount> columns, size_t step) {
  for (size_t base = 0; base < kCount; base += kSize * step) {
    for (size_t offset = 0; offset < step && base + offset < kCount; ++offset) {
      if (base + offset + (kSize - 1) * step < kCount) {
        clean_group<kSize, true>(columns, base + offset, step);
      } else {
        clean_group<kSize, false>(columns, base + offset, step);
      }
    }
  }
}

/// Runs half-cleaners at distances width/2, ..., 1 on every run of `width` elements.
template <size_t kCount>
void clean_columns(int32_t* keys, size_t width) {
  const Columns<kCount> columns{keys};
  for (; width >= kGroup; width /= kGroup)
    clean_pass<kGroup>(columns, width / kGroup);
  if (width == 8) clean_pass<8>(columns, 1);
  if (width == 4) clean_pass<4>(columns, 1);
  if (width == 2) clean_pass<2>(columns, 1);
}

template <size_t kCount>
void merge(Columns<kCount> columns, size_t size) {
  for (size_t base = 0; base < kCount; base += size) {
    for (size_t offset = 0; offset < size / kGroup; ++offset) {
      if (base + size <= kCount) {
        mirror_group<true>(columns, base, size, offset);
      } else {
        mirror_group<false>(columns, base, size, offset);
      }
    }
  }
  clean_columns<kCount>(columns.keys, size / kGroup);
}

/// Sorts the kCount keys of every lane ascending, in place. keys: kCount rows of V32::kLanes signed integers, aligned
/// to 64 bytes.
template <size_t kCount>
void sort_columns(int32_t* keys) {
  const Columns<kCount> columns{keys};
  for (size_t base = 0; base < kCount; base += kGroup) {
    if (base + kGroup <= kCount) {
      sort_group<true>(columns, base);
    } else {
      sort_group<false>(columns, base);
    }
  }
  for (size_t size = 2 * kGroup; size / 2 < kCount; size *= 2)
    merge(columns, size);
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::sort_lanes
