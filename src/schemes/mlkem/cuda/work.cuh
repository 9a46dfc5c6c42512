// SPDX-License-Identifier: Apache-2.0
// The data that the kernels of one batch work on, and the functions by which a lane reads and writes it.
#pragma once

#include "prim/cuda/warp.cuh"
#include "prim/ntt/cuda/ntt.cuh"
#include "prim/records/cuda/items.cuh"
#include "prim/records/cuda/packed.cuh"
#include "schemes/mlkem/cuda/sets.hpp"

namespace polykem::mlkem::cuda {

using polykem::cuda::Coefficients;
using polykem::cuda::compress;
using polykem::cuda::decompress;
using polykem::cuda::DeviceExpandedKeys;
using polykem::cuda::ItemWords;
using polykem::cuda::kExchangeStride;
using polykem::cuda::kLaneCoefficients;
using polykem::cuda::kNttQ;
using polykem::cuda::kPolyLanes;
using polykem::cuda::load_words;
using polykem::cuda::pack_to_shared;
using polykem::cuda::record_word;
using polykem::cuda::Records;
using polykem::cuda::RowFactors;
using polykem::cuda::SeedArray;
using polykem::cuda::store_words;
using polykem::cuda::warp_lane;

/// The records of a batch and the intermediates of its operation, nullptr where the operation has none. The names are
/// those of stages.hpp.
struct Work {
  size_t count;
  const uint32_t* coin_seed;
  const uint8_t* coins;
  Records pk, sk, ct;
  DeviceExpandedKeys keys;
  uint8_t *pk_out, *sk_out, *ct_out, *ss_out;
  int* status;
  uint16_t* a;                     ///< A or A^T of each item, row by row
  uint32_t* noise;                 ///< rows of noise: s and e, or y, e1 and e2
  uint32_t* retries;               ///< the number of entries of A that need a fourth block, then their indices
  ItemWords rho, prf_seed, z, m;   ///< 32 bytes each
  ItemWords secret;                ///< K, 32 bytes
  ItemWords rejection_or_ct_hash;  ///< the rejection secret of ML-KEM, or H(c) of Kyber; 32 bytes
  ItemWords valid, fail;           ///< one word each
};

// tools/sass_check.py knows that what is loaded by these two fields alone is public, and reads their offsets here.
static_assert(offsetof(Work, count) == 0);
static_assert(offsetof(Work, keys.index) == 88);

/// A lane's 16 fields, of kBits bits, of a packed polynomial of any alignment, in the words that hold them in memory.
/// They are unpacked later, so that a kernel can go on before they arrive.
template <int kBits>
struct PackedFields {
  static constexpr int kWords = (kBits + 1) / 2;
  uint32_t words[kWords + 1];
  int skip;
};

/// Loads lane l's fields of a packed polynomial.
template <int kBits>
__device__ __forceinline__ PackedFields<kBits> load_packed(const uint8_t* poly, unsigned l) {
  PackedFields<kBits> packed;
  const uint8_t* const from = poly + 2 * kBits * l;
  packed.skip = static_cast<int>(reinterpret_cast<uintptr_t>(from) & 3);
  const auto* aligned = reinterpret_cast<const uint32_t*>(from - packed.skip);
  const int last = (packed.skip + 2 * kBits - 1) / 4;
#pragma unroll
  for (int w = 0; w <= packed.kWords; ++w)
    packed.words[w] = aligned[w < packed.kWords ? w : min(w, last)];
  return packed;
}

/// Unpacks a lane's coefficients, in rows.
template <int kBits>
__device__ __forceinline__ void unpack(Coefficients& fields, const PackedFields<kBits>& packed) {
  uint32_t words[packed.kWords];
#pragma unroll
  for (int w = 0; w < packed.kWords; ++w)
    words[w] = __funnelshift_r(packed.words[w], packed.words[w + 1], 8 * packed.skip);
#pragma unroll
  for (int r = 0; r < kLaneCoefficients; ++r) {
    constexpr uint32_t kMask = (1u << kBits) - 1;
    const int bit = kBits * r;
    fields[r] = __funnelshift_r(words[bit / 32], words[bit / 32 + (bit % 32 + kBits > 32 ? 1 : 0)], bit % 32) & kMask;
  }
}

template <int kBytes>
__device__ __forceinline__ void store_from_shared(uint8_t* to, const uint32_t* shared, unsigned l) {
  polykem::cuda::store_from_shared<kBytes, kPolyLanes>(to, shared, l);
}

/// Loads lane l's coefficients of a row of noise, four bits each.
__device__ __forceinline__ uint2 load_noise(const uint32_t* row, unsigned l) {
  return reinterpret_cast<const uint2*>(row)[l];
}

/// Unpacks a lane's coefficients of a row of noise, in columns. q is added to them, so that they are in [q - kEta,
/// q + kEta].
template <unsigned kEta>
__device__ __forceinline__ void unpack_noise(Coefficients& a, uint2 packed) {
#pragma unroll
  for (int r = 0; r < kLaneCoefficients; ++r)
    a[r] = (((r < 8 ? packed.x : packed.y) >> (4 * (r % 8))) & 15) + (kNttQ - kEta);
}

/// A lane's coefficients of a row, of 16 bits each, as pairs of neighbours.
struct RowPairs {
  uint32_t pairs[8];
};

__device__ __forceinline__ RowPairs load_row(const void* row, unsigned l) {
  RowPairs a;
#pragma unroll
  for (int c = 0; c < 2; ++c) {
    const uint4 four = static_cast<const uint4*>(row)[kPolyLanes * c + l];
    a.pairs[4 * c] = four.x, a.pairs[4 * c + 1] = four.y;
    a.pairs[4 * c + 2] = four.z, a.pairs[4 * c + 3] = four.w;
  }
  return a;
}

/// Begins to copy a lane's coefficients of a row to shared memory, where it finds them once end_copies() has returned.
__device__ __forceinline__ void begin_row(uint32_t* shared, const void* row, unsigned l) {
#pragma unroll
  for (unsigned c = 0; c < 2; ++c)
    polykem::cuda::begin_copy<16>(reinterpret_cast<uint4*>(shared) + kPolyLanes * c + l,
                                  static_cast<const uint4*>(row) + kPolyLanes * c + l);
}

__device__ __forceinline__ void store_row(void* row, const Coefficients& a, unsigned l) {
#pragma unroll
  for (int c = 0; c < 2; ++c) {
    uint32_t pairs[4];
#pragma unroll
    for (int j = 0; j < 4; ++j)
      pairs[j] = a[8 * c + 2 * j] | (a[8 * c + 2 * j + 1] << 16);
    static_cast<uint4*>(row)[kPolyLanes * c + l] = make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
  }
}

/// Computes sum += a y, where all are transforms in rows and `odd` is what times_gamma() computes for y.
__device__ __forceinline__ void add_row_product(Coefficients& sum, const RowPairs& a, const Coefficients& y,
                                                const uint32_t (&odd)[8]) {
#pragma unroll
  for (int p = 0; p < 8; ++p)
    polykem::cuda::add_product(sum[2 * p], sum[2 * p + 1], a.pairs[p] & 0xffff, a.pairs[p] >> 16, y[2 * p],
                               y[2 * p + 1], odd[p]);
}

/// Computes sum += a y, as add_row_product() does, for unpacked coefficients of a.
__device__ __forceinline__ void add_product(Coefficients& sum, const Coefficients& a, const Coefficients& y,
                                            const uint32_t (&odd)[8]) {
#pragma unroll
  for (int p = 0; p < 8; ++p)
    polykem::cuda::add_product(sum[2 * p], sum[2 * p + 1], a[2 * p], a[2 * p + 1], y[2 * p], y[2 * p + 1], odd[p]);
}

}  // namespace polykem::mlkem::cuda
