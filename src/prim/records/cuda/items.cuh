// SPDX-License-Identifier: Apache-2.0
// Arrays of the items' words, seeds and keys in device memory.
#pragma once

#include <cstddef>

#include "prim/records/cuda/records.cuh"

namespace polykem::cuda {

/// Words of many items, with word w of all items side by side: a thread per item reads and writes them beside its
/// neighbours.
struct ItemWords {
  uint32_t* base;
  size_t count;
  __device__ uint32_t& at(int w, size_t item) const { return base[static_cast<size_t>(w) * count + item]; }
  template <int kWords>
  __device__ void load(uint32_t (&words)[kWords], size_t item) const {
#pragma unroll
    for (int w = 0; w < kWords; ++w)
      words[w] = at(w, item);
  }
  template <int kWords>
  __device__ void store(const uint32_t (&words)[kWords], size_t item) const {
#pragma unroll
    for (int w = 0; w < kWords; ++w)
      at(w, item) = words[w];
  }
};

/// Keys in their expanded form, see Shape::ExpandedKey. The index is public.
struct DeviceExpandedKeys {
  const std::byte* data;  ///< nullptr: the keys are records
  uint64_t bytes;         ///< from one key to the next; 0: all items use the same
  const uint64_t* index;  ///< nullptr: item i uses key i
  __device__ const std::byte* operator[](size_t item) const {
    return data + (index == nullptr || bytes == 0 ? item : index[item]) * bytes;
  }
};

/// Loads kWords words from bytes of any alignment.
template <int kWords>
__device__ __forceinline__ void load_words(uint32_t (&words)[kWords], const uint8_t* from) {
  const auto skip = static_cast<int>(reinterpret_cast<uintptr_t>(from) & 3);
  const auto* aligned = reinterpret_cast<const uint32_t*>(from - skip);
  uint32_t next = aligned[0];
#pragma unroll
  for (int w = 0; w < kWords; ++w) {
    const uint32_t low = next;
    next = aligned[w + 1 < kWords || skip > 0 ? w + 1 : w];
    words[w] = __funnelshift_r(low, next, 8 * skip);
  }
}

/// Stores words at any alignment.
template <int kWords>
__device__ __forceinline__ void store_words(uint8_t* to, const uint32_t (&words)[kWords]) {
  if (reinterpret_cast<uintptr_t>(to) % 16 == 0 && kWords % 4 == 0) {
#pragma unroll
    for (int w = 0; w + 4 <= kWords; w += 4)
      *reinterpret_cast<uint4*>(to + 4 * w) = make_uint4(words[w], words[w + 1], words[w + 2], words[w + 3]);
  } else if (reinterpret_cast<uintptr_t>(to) % 4 == 0) {
#pragma unroll
    for (int w = 0; w < kWords; ++w)
      *reinterpret_cast<uint32_t*>(to + 4 * w) = words[w];
  } else {
#pragma unroll
    for (int b = 0; b < 4 * kWords; ++b)
      to[b] = static_cast<uint8_t>(words[b / 4] >> (8 * (b % 4)));
  }
}

/// An array of seeds of 32 bytes, one for each item: word w of item i's seed is at base + i item_bytes + w word_bytes.
struct SeedArray {
  const uint8_t* base;
  size_t item_bytes, word_bytes;

  __device__ void load(uint32_t (&seed)[8], size_t item) const {
    const uint8_t* const from = base + item * item_bytes;
    if (word_bytes == 4) return load_words(seed, from);
#pragma unroll
    for (int w = 0; w < 8; ++w)
      seed[w] = *reinterpret_cast<const uint32_t*>(from + static_cast<size_t>(w) * word_bytes);
  }
};

}  // namespace polykem::cuda
