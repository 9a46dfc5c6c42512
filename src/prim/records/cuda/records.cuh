// SPDX-License-Identifier: Apache-2.0
// Packed records of any alignment in device memory, read and written by one warp as aligned 32-bit words.
#pragma once

#include <cstdint>

#include "prim/cuda/copy.cuh"

namespace polykem::cuda {

/// An array of records: record i is at base + i * stride; with a stride of 0 all items use the same record.
struct Records {
  const uint8_t* base;
  uint32_t stride;
  __device__ const uint8_t* operator[](size_t i) const { return base + i * stride; }
};

/// An array of rows of bytes that kernels also write, laid out like Records.
struct Rows {
  uint8_t* base;
  uint32_t stride;
  __device__ uint8_t* operator[](size_t i) const { return base + i * stride; }
  __host__ __device__ uint64_t* words(size_t i) const { return reinterpret_cast<uint64_t*>(base + i * stride); }
};

/// Returns bytes 4 w .. 4 w + 3 of a record of any alignment and of `bytes` bytes; bytes past its end are undefined.
/// Reads only words that the record touches.
__device__ __forceinline__ uint32_t record_word(const uint8_t* record, int w, int bytes) {
  const auto skip = static_cast<int>(reinterpret_cast<uintptr_t>(record) & 3);
  const auto* words = reinterpret_cast<const uint32_t*>(record - skip);
  const int last = (skip + bytes - 1) / 4;
  return __funnelshift_r(words[w], words[w < last ? w + 1 : last], 8 * skip);
}

/// Begins to copy the aligned words that a record of kBytes bytes touches to shared memory. Returns the byte of
/// `shared` at which the record then begins.
template <int kBytes>
__device__ __forceinline__ int begin_record(uint8_t* shared, const uint8_t* record, unsigned lane) {
  const auto skip = static_cast<int>(reinterpret_cast<uintptr_t>(record) & 3);
#pragma unroll
  for (int begin = 0; begin < kBytes + 3; begin += 4 * 32) {
    const int at = begin + 4 * static_cast<int>(lane);
    if (at < skip + kBytes) begin_copy<4>(shared + at, record - skip + at);
  }
  return skip;
}

/// Writes the record [to, to + bytes) as aligned words, by kLanes lanes. word_at(offset) returns the bytes offset ..
/// offset + 3 of the record, -3 <= offset < bytes; bytes outside the record are not stored.
template <int kLanes = 32, class WordAt>
__device__ __forceinline__ void store_record(uint8_t* to, int bytes, unsigned lane, WordAt word_at) {
  const auto skip = static_cast<int>(reinterpret_cast<uintptr_t>(to) & 3);
  uint8_t* base = to - skip;
  for (int first = 0; 4 * first < 3 + bytes; first += kLanes) {
    const int w = first + static_cast<int>(lane), offset = 4 * w - skip;
    if (offset >= bytes) continue;
    const uint32_t value = word_at(offset);
    if (offset >= 0 && offset + 4 <= bytes) {
      *reinterpret_cast<uint32_t*>(base + 4 * w) = value;
    } else {
#pragma unroll
      for (int b = 0; b < 4; ++b) {
        if (offset + b >= 0 && offset + b < bytes) base[4 * w + b] = static_cast<uint8_t>(value >> (8 * b));
      }
    }
  }
}

/// Copies kBytes bytes, a multiple of 4, of shared memory, 16-byte aligned, to a record of any alignment, by kLanes
/// lanes.
template <int kBytes, int kLanes = 32>
__device__ __forceinline__ void store_from_shared(uint8_t* to, const uint32_t* shared, unsigned lane) {
  if (reinterpret_cast<uintptr_t>(to) % 16 == 0 && kBytes % 16 == 0) {
#pragma unroll
    for (int at = 0; at < kBytes; at += 16 * kLanes) {
      const int mine = at + 16 * static_cast<int>(lane);
      if (mine < kBytes) *reinterpret_cast<uint4*>(to + mine) = *reinterpret_cast<const uint4*>(shared + mine / 4);
    }
  } else if (reinterpret_cast<uintptr_t>(to) % 4 == 0) {
#pragma unroll
    for (int w = static_cast<int>(lane); w < kBytes / 4; w += kLanes)
      reinterpret_cast<uint32_t*>(to)[w] = shared[w];
  } else {
    store_record<kLanes>(to, kBytes, lane, [shared](int offset) {
      const int word = (offset + 4) / 4 - 1;  // rounded down
      const uint32_t low = word < 0 ? 0 : shared[word];
      return __funnelshift_r(low, word + 1 < kBytes / 4 ? shared[word + 1] : 0, 8 * (offset - 4 * word));
    });
  }
}

}  // namespace polykem::cuda
