// SPDX-License-Identifier: Apache-2.0
// A sorting network over arrays of vectors, an item per lane: Batcher's merge exchange. Green's network of 60
// comparators on 16 values replaces its first four phases, and a pass over memory computes several levels of the later
// phases. [KNUTH3, 5.2.2, Alg. M; 5.3.4]
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "schemes/ntru/sort/lanes/exchange.hpp"
#include "schemes/ntru/sort/sort_lanes.hpp"

namespace polykem::sort_lanes {
inline namespace POLYKEM_ISA {

inline constexpr int32_t kLargestKey = INT32_MAX;

/// The number of values that a pass keeps in registers.
#ifdef POLYKEM_ISA_AVX512
inline constexpr size_t kMaxWindow = 16;
#else
inline constexpr size_t kMaxWindow = 8;
#endif

struct Comparator {
  uint8_t low, high;
};
inline constexpr Comparator kGreen16[] = {
    {0, 1},  {2, 3},  {4, 5},   {6, 7},   {8, 9},  {10, 11}, {12, 13}, {14, 15}, {0, 2},  {1, 3},   {4, 6},   {5, 7},
    {8, 10}, {9, 11}, {12, 14}, {13, 15}, {0, 4},  {1, 5},   {2, 6},   {3, 7},   {8, 12}, {9, 13},  {10, 14}, {11, 15},
    {0, 8},  {1, 9},  {2, 10},  {3, 11},  {4, 12}, {5, 13},  {6, 14},  {7, 15},  {5, 10}, {6, 9},   {3, 12},  {13, 14},
    {4, 8},  {7, 11}, {1, 2},   {1, 4},   {7, 13}, {2, 8},   {11, 14}, {2, 4},   {5, 6},  {9, 10},  {11, 13}, {3, 8},
    {7, 12}, {6, 8},  {10, 12}, {3, 5},   {7, 9},  {3, 4},   {5, 6},   {7, 8},   {9, 10}, {11, 12}, {6, 7},   {8, 9}};

template <size_t kRows, size_t kIndex>
POLYKEM_INLINE void green_comparator(V32* v) {
  if constexpr (kGreen16[kIndex].high < kRows) compare_exchange(v[kGreen16[kIndex].low], v[kGreen16[kIndex].high]);
}

/// Sorts the kRows values row[0], row[columns], ...; constant indices throughout keep them in registers.
template <size_t... kRow, size_t... kIndex>
POLYKEM_INLINE void sort_column(V32* row, size_t columns, std::index_sequence<kRow...>,
                                std::index_sequence<kIndex...>) {
  V32 v[] = {loaded(row + kRow * columns)...};
  (green_comparator<sizeof...(kRow), kIndex>(v), ...);
  ((row[kRow * columns] = v[kRow]), ...);
}

/// Sorts rows 0..kRows-1 of each of `columns` columns, row r of column c at x[r * columns + c].
template <size_t kRows>
void sort_columns(V32* x, size_t columns) {
  for (size_t c = 0; c < columns; ++c) {
    sort_column(x + c, columns, std::make_index_sequence<kRows>(), std::make_index_sequence<60>());
  }
}

/// The two sorted sequences that are merged: element k of `even` is at even[k * step], element k of `odd` at
/// odd[k * step]. Each has `count` elements.
struct Merge {
  V32* even;
  V32* odd;
  size_t step;
  size_t count;
};

/// Stores the results of a pass in place of its inputs.
struct StoreInPlace {
  POLYKEM_INLINE void even(V32* to, size_t t, size_t stride, V32 v) const {
    v.store(reinterpret_cast<int32_t*>(to + t * stride));
  }
  POLYKEM_INLINE void odd(V32* to, size_t t, size_t stride, V32 v) const {
    v.store(reinterpret_cast<int32_t*>(to + t * stride));
  }
};

/// One stream of a merge_pass: elements first, first + unit, ... of the two sequences.
template <size_t kWindow, bool kPair, class Store>
class MergeStream {
 public:
  POLYKEM_INLINE MergeStream(Merge merge, Store store, size_t first, size_t unit)
      : even_(merge.even + first * merge.step),
        odd_(merge.odd + first * merge.step),
        stride_(unit * merge.step),
        steps_((merge.count - first + unit - 1) / unit),
        store_(store) {}

  template <size_t... kPhase>
  POLYKEM_INLINE void run(std::index_sequence<kPhase...>) {
    V32 window[] = {(kPhase < steps_ ? fetch(kPhase) : V32::set1(kLargestKey))...};
    if constexpr (kPair || !std::is_same_v<Store, StoreInPlace>) store_.even(even_, 0, stride_, window[0]);
    size_t t = 0;
    for (; t + 2 * kWindow <= steps_; t += kWindow)
      (step<kPhase, true>(window, t + kPhase), ...);
    for (; t < steps_; t += kWindow)
      ((t + kPhase < steps_ ? step<kPhase, false>(window, t + kPhase) : void()), ...);
  }

 private:
  POLYKEM_INLINE V32 get(const V32* from, size_t t) const { return loaded(from + t * stride_); }

  POLYKEM_INLINE V32 fetch(size_t t) const {
    V32 e = get(even_, t);
    if constexpr (kPair) {
      V32 o = get(odd_, t);
      compare_exchange(e, o);
      o.store(reinterpret_cast<int32_t*>(odd_ + t * stride_));
    }
    return e;
  }

  template <size_t kDistance, size_t kPhase>
  POLYKEM_INLINE static void levels(V32* window, V32& o) {
    if constexpr (kDistance > 0) {
      compare_exchange(o, window[(kPhase + kDistance) % kWindow]);
      levels<kDistance / 2, kPhase>(window, o);
    }
  }

  /// Computes step t = kWindow * i + kPhase. Slot kPhase holds even[t], which is no longer needed, and takes even[t +
  /// kWindow].
  template <size_t kPhase, bool kInside>
  POLYKEM_INLINE void step(V32* window, size_t t) const {
    V32 o = get(odd_, t);
    V32 incoming = V32::set1(kLargestKey);
    if (kInside || t + kWindow < steps_) incoming = fetch(t + kWindow);
    compare_exchange(o, incoming);
    window[kPhase] = incoming;
    levels<kWindow / 2, kPhase>(window, o);
    store_.odd(odd_, t, stride_, o);
    if (kInside || t + 1 < steps_) store_.even(even_, t + 1, stride_, window[(kPhase + 1) % kWindow]);
  }

  V32* even_;
  V32* odd_;
  size_t stride_, steps_;
  Store store_;
};

/// Computes levels of a merge: for every k, compares odd[k] with even[k + kWindow * unit], even[k + kWindow / 2 *
/// unit], ..., even[k + unit], after even[k] with odd[k] if kPair. Ascending k, in steps of `unit`, keeps the order of
/// the levels, and kWindow values of `even` stay in registers.
template <size_t kWindow, bool kPair, class Store>
void merge_pass(Merge merge, size_t unit, Store store) {
  for (size_t first = 0; first < unit && first < merge.count; ++first) {
    MergeStream<kWindow, kPair, Store>(merge, store, first, unit).run(std::make_index_sequence<kWindow>());
  }
}

/// Compares odd[t] with even[t + kDistance] for each t, then does so for half the distance and so on, down to 1.
template <size_t kDistance, size_t... kRow>
POLYKEM_INLINE void row_levels(V32* even, V32* odd, std::index_sequence<kRow...> rows) {
  if constexpr (kDistance > 0) {
    constexpr size_t kRows = sizeof...(kRow);
    ((kRow + kDistance < kRows ? compare_exchange(odd[kRow], even[(kRow + kDistance) % kRows]) : void()), ...);
    row_levels<kDistance / 2>(even, odd, rows);
  }
}

/// Computes the first levels of a merge of two sequences of kRows * unit elements, from the pairs down to a distance of
/// `unit`. The elements are taken as rows, `unit` apart, which stay in registers.
template <class Store, size_t... kRow>
POLYKEM_INLINE void merge_row_stream(V32* even, V32* odd, size_t stride, Store store,
                                     std::index_sequence<kRow...> rows) {
  const auto get = [stride](const V32* from, size_t t) __attribute__((always_inline)) {
    return loaded(from + t * stride);
  };
  V32 e[] = {get(even, kRow)...};
  V32 o[] = {get(odd, kRow)...};
  (compare_exchange(e[kRow], o[kRow]), ...);
  row_levels<8>(e, o, rows);
  (store.even(even, kRow, stride, e[kRow]), ...);
  (store.odd(odd, kRow, stride, o[kRow]), ...);
}

template <size_t kRows, class Store>
void merge_rows(Merge m, size_t unit, Store store) {
  for (size_t first = 0; first < unit; ++first) {
    merge_row_stream(m.even + first * m.step, m.odd + first * m.step, unit * m.step, store,
                     std::make_index_sequence<kRows>());
  }
}

/// Merges two sorted sequences of kRows * 2^k elements. Afterwards rank 2k is at even[k] and rank 2k + 1 at odd[k]. The
/// last pass gives its results to `store`.
template <size_t kRows, class Store>
void merge_sequences(Merge m, Store store) {
  const size_t unit = m.count / kRows;
  if (unit == 1) return merge_rows<kRows>(m, 1, store);
  merge_rows<kRows>(m, unit, StoreInPlace());
  size_t distance = unit / 2;
  while (distance > kMaxWindow) {
    merge_pass<2, false>(m, distance / 2, StoreInPlace());
    distance /= 4;
  }
  switch (distance) {
    case 1:
      return merge_pass<1, false>(m, 1, store);
    case 2:
      return merge_pass<2, false>(m, 1, store);
    case 4:
      return merge_pass<4, false>(m, 1, store);
    case 8:
      return merge_pass<8, false>(m, 1, store);
#ifdef POLYKEM_ISA_AVX512
    case 16:
      return merge_pass<16, false>(m, 1, store);
#endif
    default:
      return;
  }
}

/// Sorts an array of kRows * columns vectors, each lane by itself; columns is a power of two.
template <size_t kRows>
void sort_network(V32* x, size_t columns) {
  sort_columns<kRows>(x, columns);
  for (size_t p = columns / 2; p > 0; p /= 2) {
    for (size_t c = 0; c < p; ++c) {
      merge_sequences<kRows>(Merge{x + c, x + c + p, 2 * p, kRows * columns / p / 2}, StoreInPlace());
    }
  }
}

/// Calls call(std::integral_constant<size_t, rows>()), 9 <= rows <= 16.
template <class Call>
POLYKEM_INLINE void with_rows(size_t rows, Call call) {
  switch (rows) {
    case 9:
      return call(std::integral_constant<size_t, 9>());
    case 10:
      return call(std::integral_constant<size_t, 10>());
    case 11:
      return call(std::integral_constant<size_t, 11>());
    case 12:
      return call(std::integral_constant<size_t, 12>());
    case 13:
      return call(std::integral_constant<size_t, 13>());
    case 14:
      return call(std::integral_constant<size_t, 14>());
    case 15:
      return call(std::integral_constant<size_t, 15>());
    default:
      return call(std::integral_constant<size_t, 16>());
  }
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::sort_lanes
