// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <type_traits>
#include <utility>

#include "schemes/ntru/sort/lanes/merge_network.hpp"

namespace polykem::sort_lanes {
inline namespace POLYKEM_ISA {

inline constexpr size_t kItemsPerVector = 2 * V32::kLanes;  // of 16-bit lanes; their keys are in two vectors
inline constexpr size_t kWordBits = 30;

/// Stores the low two bits of the sorted keys directly in the 16-bit lanes of half a vector.
struct StoreLabels {
  uint16_t* out;
  size_t count;

  POLYKEM_INLINE void rank(size_t r, V32 v) const {
    if (r < count) (v & V32::set1(3)).store_low16(out + r * kItemsPerVector);
  }
  POLYKEM_INLINE void even(V32*, size_t k, size_t, V32 v) const { rank(2 * k, v); }
  POLYKEM_INLINE void odd(V32*, size_t k, size_t, V32 v) const { rank(2 * k + 1, v); }
};

/// Extracts 16 consecutive 30-bit words of each row, shifted left by two. The low two bits are arbitrary.
template <size_t... kWord>
POLYKEM_INLINE void shifted_words(V32 (&key)[16], const V32 (&d)[16], std::index_sequence<kWord...>) {
  ((key[kWord] = V32::shl_pair<2 * kWord + 2>(d[kWord < 15 ? kWord : 14], d[kWord > 0 ? kWord - 1 : 0])), ...);
  key[15] = d[14];  // bits 448..479
}

/// The two sequences of keys that are sorted.
struct Sequences {
  V32* keys;
  size_t size;  ///< the number of keys of each

  POLYKEM_INLINE V32* second() const { return keys + size + kSequenceGap; }
  POLYKEM_INLINE V32& at(size_t k) const { return k < size ? keys[k] : second()[k - size]; }
  /// Returns the address after the keys and after what load_keys writes beyond them.
  POLYKEM_INLINE V32* end() const { return second() + size + 16; }
};

/// Loads the keys of sample_fixed_type: word k of row i goes to lane i of key k. The keys beyond are the largest.
/// [NTRU20, Fixed_Type]
inline void load_keys(Sequences sequences, const uint8_t* const* rows, size_t count, size_t weight) {
  constexpr size_t kGroupBytes = 16 * kWordBits / 8;
  alignas(64) uint8_t tail[V32::kLanes][64] = {};
  const uint8_t* tail_rows[V32::kLanes];
  const V32 above_label = V32::set1(~3);
  for (size_t first = 0; first < count; first += 16) {
    const uint8_t* const* from = rows;
    size_t offset = first / 16 * kGroupBytes;
    if (count - first < 16) {
      const size_t bytes = ((count - first) * kWordBits + 7) / 8;
      for (size_t i = 0; i < V32::kLanes; ++i) {
        std::memcpy(tail[i], rows[i] + offset, bytes);
        tail_rows[i] = tail[i];
      }
      from = tail_rows;
      offset = 0;
    }
    V32 d[16], last[4], key[16];
    for (size_t j = 0; j < 3; ++j) {
      V32 four[4];
      load_words4(four, from, offset + 16 * j);
      for (size_t w = 0; w < 4; ++w)
        d[4 * j + w] = four[w];
    }
    load_words4(last, from, offset + 44);  // words 11 to 14: the group ends with word 14
    for (size_t w = 1; w < 4; ++w)
      d[11 + w] = last[w];
    shifted_words(key, d, std::make_index_sequence<15>());
#pragma GCC unroll 16
    for (size_t w = 0; w < 16; ++w) {
      const size_t index = first + w;
      const int32_t label = index < weight / 2 ? 1 : index < weight ? 2 : 0;
      sequences.at(index) = select(above_label, key[w], V32::set1(label));
    }
  }
  std::memset(tail, 0, sizeof tail);
  asm volatile("" : : "r"(tail) : "memory");
  for (size_t k = count; k < 2 * sequences.size; ++k)
    sequences.at(k) = V32::set1(kLargestKey);
}

/// Sorts both sequences and merges them; the results go to `store`.
template <class Store>
void sort_sequences(Sequences s, Store store) {
  with_rows(s.size / network_columns(s.size), [&](auto rows) {
    sort_network<rows>(s.keys, s.size / rows);
    sort_network<rows>(s.second(), s.size / rows);
    merge_sequences<rows>(Merge{s.keys, s.second(), 1, s.size}, store);
  });
}

inline void sample_fixed_type(uint16_t* out, ConstByteRows in, size_t count, size_t n, size_t weight, void* workspace) {
  const Sequences sequences{static_cast<V32*>(workspace), sort_sequence_size(n)};
  for (size_t half = 0; half < 2; ++half) {
    const uint8_t* rows[V32::kLanes];
    for (size_t i = 0; i < V32::kLanes; ++i) {
      const size_t item = half * V32::kLanes + i;
      rows[i] = in.data + (item < count ? item : count - 1) * in.stride;
    }
    load_keys(sequences, rows, n - 1, weight);
    sort_sequences(sequences, StoreLabels{out + half * V32::kLanes, n - 1});
  }
  std::memset(out + (n - 1) * kItemsPerVector, 0, kItemsPerVector * sizeof *out);
}

inline constexpr SortFunctions kSortTable = {kItemsPerVector, sample_fixed_type};

}  // namespace POLYKEM_ISA
}  // namespace polykem::sort_lanes
