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
using polykem::cuda::record_word;
using polykem::cuda::Records;
using polykem::cuda::RowFactors;
using polykem::cuda::SeedPlace;
using polykem::cuda::stage_fields;
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

/// A lane's part of a packed polynomial of any alignment: 16 fields of kBits bits, in the words that hold them in
/// memory. They are unpacked later, so that a kernel can go on before they arrive.
template <int kBits>
struct PackedPart {
  static constexpr int kWords = (kBits + 1) / 2;
  uint32_t words[kWords + 1];
  int skip;
};

/// Loads lane l's part of a packed polynomial.
template <int kBits>
__device__ __forceinline__ PackedPart<kBits> load_packed(const uint8_t* poly, unsigned l) {
  PackedPart<kBits> part;
  const uint8_t* const from = poly + 2 * kBits * l;
  part.skip = static_cast<int>(reinterpret_cast<uintptr_t>(from) & 3);
  const auto* aligned = reinterpret_cast<const uint32_t*>(from - part.skip);
  const int last = (part.skip + 2 * kBits - 1) / 4;
#pragma unroll
  for (int w = 0; w <= part.kWords; ++w)
    part.words[w] = aligned[w < part.kWords ? w : min(w, last)];
  return part;
}

/// Unpacks the coefficients of a lane's part, in rows.
template <int kBits>
__device__ __forceinline__ void unpack(Coefficients& fields, const PackedPart<kBits>& part) {
  uint32_t words[part.kWords];
#pragma unroll
  for (int w = 0; w < part.kWords; ++w)
    words[w] = __funnelshift_r(part.words[w], part.words[w + 1], 8 * part.skip);
#pragma unroll
  for (int r = 0; r < kLaneCoefficients; ++r) {
    constexpr uint32_t kMask = (1u << kBits) - 1;
    const int bit = kBits * r;
    fields[r] = __funnelshift_r(words[bit / 32], words[bit / 32 + (bit % 32 + kBits > 32 ? 1 : 0)], bit % 32) & kMask;
  }
}

template <int kBytes>
__device__ __forceinline__ void store_staged(uint8_t* to, const uint32_t* staged, unsigned l) {
  polykem::cuda::store_staged<kBytes, kPolyLanes>(to, staged, l);
}

/// Loads lane l's part of a row of noise.
__device__ __forceinline__ uint2 load_noise(const uint32_t* row, unsigned l) {
  return reinterpret_cast<const uint2*>(row)[l];
}

/// Unpacks the coefficients of a lane's part of a row of noise, in columns. q is added to them, so that they are in
/// [q - kEta, q + kEta].
template <unsigned kEta>
__device__ __forceinline__ void unpack_noise(Coefficients& a, uint2 part) {
#pragma unroll
  for (int r = 0; r < kLaneCoefficients; ++r)
    a[r] = (((r < 8 ? part.x : part.y) >> (4 * (r % 8))) & 15) + (kNttQ - kEta);
}

/// A lane's part of a row of 16-bit coefficients, as pairs of neighbours.
struct RowPart {
  uint32_t pairs[8];
};

__device__ __forceinline__ RowPart load_row(const void* row, unsigned l) {
  RowPart part;
#pragma unroll
  for (int c = 0; c < 2; ++c) {
    const uint4 four = static_cast<const uint4*>(row)[kPolyLanes * c + l];
    part.pairs[4 * c] = four.x, part.pairs[4 * c + 1] = four.y;
    part.pairs[4 * c + 2] = four.z, part.pairs[4 * c + 3] = four.w;
  }
  return part;
}

/// Begins to copy a lane's part of a row to shared memory, where this lane finds it once end_copies() has returned.
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
__device__ __forceinline__ void add_row_product(Coefficients& sum, const RowPart& a, const Coefficients& y,
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
