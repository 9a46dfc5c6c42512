// SPDX-License-Identifier: Apache-2.0
// Hashes the items of a batch, each item in one thread, with blocks of one warp. Messages that are records go through
// shared memory. [FIPS202]
#pragma once

#include "prim/cuda/warp.cuh"
#include "prim/keccak/cuda/keccak.cuh"
#include "prim/records/cuda/items.cuh"

namespace polykem::cuda {

/// The least number of blocks of one warp that a multiprocessor must have registers for, in kernels that hash an item
/// in each lane. On compute capability 9.0 it is as many as run without spills, so that a batch of 100,000 is one wave.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 900
inline constexpr int kHashBlocks = 24;
#else
inline constexpr int kHashBlocks = 1;
#endif

/// Returns the address of the record of lane m.
struct LaneRecords {
  Records records;
  LaneItem item;
  __device__ const uint8_t* operator()(int m) const { return records[item.of(m)]; }
};

inline constexpr int kHashScratchWords = 32 * 4 * kScratchPieces;
static_assert(kHashScratchWords >= kScratchWords);

/// Sets `digest` to the SHA3-256, or another function of the same rate, of the record of each lane's item, which
/// follows `prefix` if there is one. `scratch` is kHashScratchWords words of shared memory, 16-byte aligned.
template <int kBytes, int kPrefix = 0, KeccakSuffix kSuffix = KeccakSuffix::kSha3>
__device__ __forceinline__ void hash_records(uint32_t (&digest)[8], uint32_t* scratch, Records records,
                                             const LaneItem& item, const uint32_t* prefix = nullptr) {
  const uint8_t* const base = records[item.first];
  if ((reinterpret_cast<uintptr_t>(base) | records.stride) % 16 == 0) {
    warp_sha3_256_aligned<kPrefix, kBytes, kSuffix>(digest, prefix, reinterpret_cast<uint4*>(scratch), warp_lane(),
                                                    base, records.stride, item.valid_lanes());
  } else {
    warp_sha3_256<kPrefix, kBytes, kSuffix>(digest, prefix, scratch, warp_lane(), LaneRecords{records, item});
  }
}

/// Sets `out` to the first kWords words of SHAKE256 or SHA3 of 64 bytes.
template <int kRate, KeccakSuffix kSuffix, int kWords>
__device__ __forceinline__ void hash_64(uint32_t (&out)[kWords], const uint32_t (&first)[8],
                                        const uint32_t (&second)[8]) {
  uint32_t both[16];
#pragma unroll
  for (int w = 0; w < 8; ++w)
    both[w] = first[w], both[8 + w] = second[w];
  uint64_t state[25];
  absorb_seed<kRate>(state, both, static_cast<uint64_t>(kSuffix));
  keccak_f1600(state);
  squeeze_words(out, state);
}

/// Computes SHA3-512 of 64 bytes, `m` and `h`, in two halves.
__device__ __forceinline__ void sha3_512_of_64(uint32_t (&first)[8], uint32_t (&second)[8], const uint32_t (&m)[8],
                                               const uint32_t (&h)[8]) {
  uint32_t both[16];
  hash_64<kSha3_512RateBytes, KeccakSuffix::kSha3>(both, m, h);
#pragma unroll
  for (int w = 0; w < 8; ++w)
    first[w] = both[w], second[w] = both[8 + w];
}

}  // namespace polykem::cuda
