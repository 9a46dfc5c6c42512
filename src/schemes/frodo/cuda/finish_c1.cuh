// SPDX-License-Identifier: Apache-2.0
// The end of S' A + E' in a block of threads that has an item's sums in shared memory: packing, and storing or
// comparing.
#pragma once

#include "prim/records/cuda/records.cuh"
#include "schemes/frodo/cuda/noise.cuh"
#include "schemes/frodo/cuda/sizes.hpp"

namespace polykem::frodo::cuda {

using polykem::cuda::Records;

/// The destination of c1 and c2. In encaps they are stored in ct. In decaps ct is only read; `fail` becomes nonzero
/// where it differs.
struct Ciphertexts {
  uint8_t* ct;
  uint32_t* fail;  ///< nullptr in encaps

  __device__ __forceinline__ bool stored() const { return fail == nullptr; }
};

/// Loads eight signed bytes.
__device__ __forceinline__ void load_errors(int (&e)[kBar], const uint8_t* from) {
  const uint2 bytes = *reinterpret_cast<const uint2*>(from);
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    e[k] = static_cast<int8_t>(bytes.x >> (8 * k));
    e[k + 4] = static_cast<int8_t>(bytes.y >> (8 * k));
  }
}

/// Returns a word of pack8 with its first byte lowest.
__device__ __forceinline__ uint32_t byte_swapped(uint32_t word) {
  return __byte_perm(word, 0, 0x0123);
}

/// Stores D bytes that pack8 made at to + D * index; `to` is 16-byte aligned.
__device__ __forceinline__ void store_packed(uint8_t* to, uint32_t index, const uint32_t (&words)[4], uint32_t logq) {
  if (logq == 16) {
    reinterpret_cast<uint4*>(to)[index] =
        make_uint4(byte_swapped(words[0]), byte_swapped(words[1]), byte_swapped(words[2]), byte_swapped(words[3]));
    return;
  }
#pragma unroll
  for (int b = 0; b < 15; ++b)
    to[15 * index + b] = static_cast<uint8_t>(words[b / 4] >> (24 - 8 * (b % 4)));
}

/// Loads D bytes of a record, from byte `offset` on, as words for unpack8.
__device__ __forceinline__ void load_packed(uint32_t (&words)[4], const uint8_t* from, uint32_t logq) {
#pragma unroll
  for (int k = 0; k < 4; ++k)
    words[k] = byte_swapped(polykem::cuda::record_word(from, k, static_cast<int>(logq)));
}

/// Returns bytes offset .. offset + 3 of an array in shared memory. `bytes` is 4-byte aligned; offset >= -3.
__device__ __forceinline__ uint32_t shared_word(const uint8_t* bytes, int offset) {
  const auto* words = reinterpret_cast<const uint32_t*>(bytes + (offset & ~3));
  return __funnelshift_r(words[0], words[1], 8 * (offset & 3));
}

/// Stores packed coefficients from shared memory in a record. All threads of the block call it: each warp stores a part
/// whose length is a multiple of 4. 4 more bytes before and after `packed` are read.
__device__ __forceinline__ void store_packed_rows(uint8_t* to, const uint8_t* packed, uint32_t bytes) {
  const uint32_t warp = threadIdx.x / 32, warps = blockDim.x / 32;
  const uint32_t part = (bytes + 4 * warps - 1) / (4 * warps) * 4, begin = warp * part;
  if (begin >= bytes) return;
  polykem::cuda::store_record(to + begin, static_cast<int>(min(part, bytes - begin)), threadIdx.x % 32,
                              [&](int at) { return shared_word(packed + begin, at); });
}

/// Packs B' = sums + E' and stores or compares it. All threads of the block call it. sum(column, row): returns an
/// element of S' A. e: E' of this item. packed: n D bytes of shared memory, 16-byte aligned; 4 more bytes before and
/// after them are read. mismatch: a word of shared memory.
template <class Sum>
__device__ __forceinline__ void finish_c1(const Ciphertexts& target, size_t item, const uint8_t* e, const Sizes& sizes,
                                          uint8_t* packed, uint32_t* mismatch, Sum sum) {
  if (threadIdx.x == 0) *mismatch = 0;
  const uint32_t groups = sizes.n / 8, warps = blockDim.x / 32;
#pragma unroll 1
  for (uint32_t row = threadIdx.x / 32; row < kBar; row += warps) {
#pragma unroll 1
    for (uint32_t group = threadIdx.x % 32; group < groups; group += 32) {
      int error[kBar];
      load_errors(error, e + row * sizes.n + 8 * group);
      uint32_t c[kBar], words[4];
#pragma unroll
      for (uint32_t k = 0; k < kBar; ++k)
        c[k] = static_cast<uint32_t>(sum(8 * group + k, row) + error[k]);
      pack8(words, c, sizes.logq);
      store_packed(packed, row * groups + group, words, sizes.logq);
    }
  }
  __syncthreads();
  const uint32_t bytes = sizes.n * sizes.logq;
  if (target.stored()) {
    store_packed_rows(target.ct + item * sizes.ct_bytes, packed, bytes);
    return;
  }
  const uint8_t* ct = target.ct + item * sizes.ct_bytes;
  uint32_t difference = 0;
  for (uint32_t w = threadIdx.x; w < bytes / 4; w += blockDim.x)
    difference |=
        polykem::cuda::record_word(ct, static_cast<int>(w), static_cast<int>(bytes)) ^ shared_word(packed, 4 * w);
  atomicOr(mismatch, difference);
  __syncthreads();
  if (threadIdx.x == 0) target.fail[item] = *mismatch;
}

}  // namespace polykem::frodo::cuda
