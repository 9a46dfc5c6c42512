// SPDX-License-Identifier: Apache-2.0
// Samples fixed-weight polynomials of items that lie one after the other: one item at a time, or as many as there are
// 32-bit lanes.
#pragma once

#include "core/round.hpp"
#include "schemes/ntru/sort/lanes/sample_fixed_type.hpp"
#include "schemes/ntru/sort/lanes/sort_single.hpp"

#ifdef POLYKEM_ISA_AVX512
namespace polykem::sort_lanes {
inline namespace POLYKEM_ISA {

/// The indices of the five bytes of 30-bit word w of 16: the first four are in dword w of `low`, the last one is in
/// `high`.
struct WordIndices {
  alignas(64) uint8_t low[64], high[64];
  alignas(64) uint32_t shift[16];
  constexpr WordIndices() : low(), high(), shift() {
    for (size_t w = 0; w < 16; ++w) {
      for (size_t j = 0; j < 4; ++j) {
        low[4 * w + j] = static_cast<uint8_t>(kWordBits * w / 8 + j);
        high[4 * w + j] = static_cast<uint8_t>(kWordBits * w / 8 + 4 + j);
      }
      shift[w] = kWordBits * w % 8;
    }
  }
};
inline constexpr WordIndices kWordIndices{};

/// Loads `count` keys of one item and fills up to `size`, a multiple of 16, with kLargestKey. [NTRU20, Fixed_Type]
inline void load_keys_single(int32_t* keys, const uint8_t* in, size_t count, size_t size, size_t weight) {
  const __m512i low = _mm512_load_si512(kWordIndices.low), high = _mm512_load_si512(kWordIndices.high);
  const __m512i shift = _mm512_load_si512(kWordIndices.shift), sixteen = _mm512_set1_epi32(16);
  const __m512i half = _mm512_set1_epi32(static_cast<int>(weight / 2));
  const __m512i whole = _mm512_set1_epi32(static_cast<int>(weight)), all = _mm512_set1_epi32(static_cast<int>(count));
  const size_t bytes = (count * kWordBits + 7) / 8;
  constexpr size_t kGroupBytes = 16 * kWordBits / 8;
  __m512i index = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  for (size_t i = 0; i < size; i += 16) {
    const size_t at = i / 16 * kGroupBytes, left = at < bytes ? bytes - at : 0;
    const uint64_t mask = left < kGroupBytes ? (uint64_t{1} << left) - 1 : (uint64_t{1} << kGroupBytes) - 1;
    const __m512i x = _mm512_maskz_loadu_epi8(mask, in + at);
    const __m512i words = _mm512_shrdv_epi32(_mm512_permutexvar_epi8(low, x), _mm512_permutexvar_epi8(high, x), shift);
    const __m512i label =
        _mm512_mask_set1_epi32(_mm512_maskz_set1_epi32(_mm512_cmplt_epi32_mask(index, half), 1),
                               _mm512_cmplt_epi32_mask(index, whole) & _mm512_cmpge_epi32_mask(index, half), 2);
    const __m512i key = _mm512_or_si512(_mm512_slli_epi32(words, 2), label);
    _mm512_store_si512(keys + i,
                       _mm512_mask_mov_epi32(_mm512_set1_epi32(kLargestKey), _mm512_cmplt_epi32_mask(index, all), key));
    index = _mm512_add_epi32(index, sixteen);
  }
}

template <size_t kRows>
void sample_single(uint8_t* out, const uint8_t* in, size_t n, size_t weight, int32_t* x) {
  int32_t* sorted = x + kRows * V32::kLanes;
  load_keys_single(x, in, n - 1, kRows * V32::kLanes, weight);
  sort_matrix<kRows>(sorted, x);
  const __m512i three = _mm512_set1_epi32(3);
  for (size_t i = 0; i < n; i += 16) {
    const __m512i labels = _mm512_and_si512(_mm512_load_si512(sorted + i), three);
    _mm_store_si128(reinterpret_cast<__m128i*>(out + i), _mm512_cvtepi32_epi8(labels));
  }
}

inline void sample_single(uint8_t* out, const uint8_t* in, size_t n, size_t weight, int32_t* x) {
  switch (sort_matrix_rows(n - 1)) {
    case 32:
      return sample_single<32>(out, in, n, weight, x);
    case 64:
      return sample_single<64>(out, in, n, weight, x);
    default:
      return sample_single<128>(out, in, n, weight, x);
  }
}

/// Stores the labels of V32::kLanes items as bytes, one rank after the other.
struct StoreLabelBytes {
  uint8_t* out;
  size_t count;

  POLYKEM_INLINE void rank(size_t r, V32 v) const {
    if (r < count) {
      _mm_store_si128(reinterpret_cast<__m128i*>(out + r * V32::kLanes), _mm512_cvtepi32_epi8((v & V32::set1(3)).r));
    }
  }
  POLYKEM_INLINE void even(V32*, size_t k, size_t, V32 v) const { rank(2 * k, v); }
  POLYKEM_INLINE void odd(V32*, size_t k, size_t, V32 v) const { rank(2 * k + 1, v); }
};

/// Copies labels[r][i] to byte r of row i, 64 ranks at a time.
inline void labels_to_rows(ByteRows out, const uint8_t* labels, size_t ranks, size_t count) {
  alignas(64) static constexpr auto kGather = [] {
    struct {
      uint8_t at[64];
    } index{};
    for (size_t byte = 0; byte < 64; ++byte)
      index.at[byte] = static_cast<uint8_t>(byte % 4 * 16 + byte / 4);
    return index;
  }();
  const __m512i gather = _mm512_load_si512(kGather.at);
  for (size_t first = 0; first < ranks; first += 64) {
    __m512i r[16];
    for (size_t i = 0; i < 16; ++i)
      r[i] = _mm512_permutexvar_epi8(gather, _mm512_load_si512(labels + 16 * first + 64 * i));
    simd::transpose32(r);
    for (size_t i = 0; i < count; ++i)
      _mm512_storeu_si512(out.data + i * out.stride + first, r[i]);
  }
}

/// Samples at most V32::kLanes items, one in each lane.
inline void sample_lanes(ByteRows out, ConstByteRows in, size_t count, size_t n, size_t weight, V32* keys) {
  const size_t width = rounded_up(n, 64);
  const Sequences sequences{keys, sort_sequence_size(n)};
  const uint8_t* rows[V32::kLanes];
  for (size_t i = 0; i < V32::kLanes; ++i)
    rows[i] = in.data + (i < count ? i : count - 1) * in.stride;
  load_keys(sequences, rows, n - 1, weight);
  auto* labels = reinterpret_cast<uint8_t*>(sequences.end());
  sort_sequences(sequences, StoreLabelBytes{labels, n - 1});
  std::memset(labels + (n - 1) * V32::kLanes, 0, (width - (n - 1)) * V32::kLanes);
  labels_to_rows(out, labels, width, count);
}

inline void sample_fixed_type_rows(ByteRows out, ConstByteRows in, size_t count, size_t n, size_t weight,
                                   void* workspace) {
  const size_t width = rounded_up(n, 64);
  for (size_t first = 0; first < count; first += V32::kLanes) {
    const size_t now = count - first < V32::kLanes ? count - first : V32::kLanes;
    const ByteRows to{out.data + first * out.stride, out.stride};
    const ConstByteRows from{in.data + first * in.stride, in.stride};
    if (now >= kMinForSortNetwork) {
      sample_lanes(to, from, now, n, weight, static_cast<V32*>(workspace));
      continue;
    }
    for (size_t i = 0; i < now; ++i) {
      uint8_t* row = to.data + i * to.stride;
      sample_single(row, from.data + i * from.stride, n, weight, static_cast<int32_t*>(workspace));
      std::memset(row + n - 1, 0, width - (n - 1));
    }
  }
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::sort_lanes
#endif
