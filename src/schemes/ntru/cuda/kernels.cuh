// SPDX-License-Identifier: Apache-2.0
// NTRU's kernels other than the products. Unless a kernel says otherwise, one warp works on one item and nothing is
// shared between warps. Records (pk, sk, ct, ss) may have any alignment; sets.hpp describes rows.
#pragma once

#include "prim/drbg/cuda/drbg.cuh"
#include "prim/keccak/cuda/keccak.cuh"
#include "prim/records/cuda/items.cuh"
#include "schemes/ntru/cuda/records.cuh"
#include "schemes/ntru/cuda/sample.cuh"

namespace polykem::ntru::cuda {

inline constexpr int kWarps = 4;  ///< warps per block, where lanes share an item
inline constexpr int kThreads = 32 * kWarps;

/// Kernels in which each lane computes an item run in blocks of one warp, so that batches of 100,000 items spread
/// evenly. This is the number of such blocks for which a multiprocessor must have registers: on compute capability 9.0
/// the largest without spills; elsewhere the compiler chooses.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 900
inline constexpr int kLaneBlocks = 24;
#else
inline constexpr int kLaneBlocks = 1;
#endif

__device__ __forceinline__ size_t warp_item() {
  return blockIdx.x * size_t{kWarps} + threadIdx.x / 32;
}

/// Computes randombytes. Each lane makes a block. rows: kCoinStride bytes per item.
template <class Set, int kBytes>
__global__ void __launch_bounds__(32, kLaneBlocks)
    coin_kernel(uint8_t* rows, const uint32_t* seed, polykem::cuda::CoinDomain domain, uint64_t count) {
  constexpr uint32_t kBlocks = polykem::cuda::coin_blocks(kBytes);
  __shared__ uint4 scratch[polykem::cuda::kCoinScratchPieces];
  polykem::cuda::warp_make_coins<kBlocks, Shape<Set>::kCoinStride>(rows, seed, domain, blockIdx.x, count, scratch,
                                                                   warp_lane());
}

/// The number of items that a block samples.
template <class Set>
inline constexpr int kSampleItems = kThreads / kSampleLanes<Set>;

/// Replaces the trits of 0, which has no inverse, by those of 1. Returns all ones if they were 0. any: the union of the
/// lane's words of trits.
template <class Set>
__device__ __forceinline__ uint32_t replace_zero(uint8_t* t, uint32_t any, unsigned lane) {
  constexpr unsigned kLanes = kSampleLanes<Set>, kGroup = 0xffffffff >> (32 - kLanes);
  const unsigned lanes = __ballot_sync(0xffffffff, any != 0) >> (warp_lane() - lane) & kGroup;
  const uint32_t zero = lanes != 0 ? 0u : 0xffffffffu;
  if (lane == 0) t[0] |= static_cast<uint8_t>(zero & 1);
  __syncwarp();
  return zero;
}

/// Masks of one key pair: all ones if f was 0, and all ones if f or g was 0.
struct alignas(8) ZeroMasks {
  uint32_t f, either;
};

/// Computes sample_fg: writes f and G / 3 as rows of bytes, with 1 in place of f = 0 and g = 0. Rows beyond the batch
/// repeat its last item. The PRF key goes into sk. kSampleLanes lanes work on an item; those beyond the last row repeat
/// it.
template <class Set>
__global__ void __launch_bounds__(kThreads)
    sample_fg_kernel(uint8_t* f, uint8_t* lifted_g, ZeroMasks* zero, uint8_t* sk, const uint8_t* coins, size_t count,
                     size_t rows) {
  using S = Shape<Set>;
  constexpr int kLanes = kSampleLanes<Set>, kItems = kSampleItems<Set>;
  __shared__ alignas(16) uint8_t trits[kItems][S::kRow];
  const unsigned lane = threadIdx.x % kLanes;
  const size_t item = min(blockIdx.x * size_t{kItems} + threadIdx.x / kLanes, rows - 1);
  uint8_t* t = trits[threadIdx.x / kLanes];
  const uint8_t* seed = coins + min(item, count - 1) * S::kCoinStride;
  uint32_t any, g_zero = 0;
  if constexpr (S::kHps) {
    any = sample_iid<Set, kLanes>(t, seed, lane);
  } else {
    any = sample_iid_plus<Set>(t, seed, lane);
  }
  const uint32_t f_zero = replace_zero<Set>(t, any, lane);
  store_centred<Set, kLanes>(f + item * S::kRow, t, lane);
  __syncwarp();
  if constexpr (S::kHps) {
    sample_fixed_type<Set>(t, seed + S::kIidBytes, lane);  // never 0
  } else {
    any = sample_iid_plus<Set>(t, seed + S::kIidBytes, lane);
    g_zero = replace_zero<Set>(t, any, lane);
  }
  store_lifted<Set, kLanes>(lifted_g + item * S::kRow, t, lane);
  if (lane == 0) zero[item] = {f_zero, f_zero | g_zero};
  if (item < count) {
    for (unsigned i = lane; i < S::kParams.kPrfKeyBytes; i += kLanes)
      sk[item * S::kSecretKeyBytes + S::kPrfOffset + i] = seed[S::kPairBytes + i];
  }
}

/// Computes poly_S3_tobytes of trits in shared memory, by kSampleLanes lanes. to: 4-byte aligned where the number of
/// packed bytes is a multiple of 4.
template <class Set>
__device__ __forceinline__ void store_sampled_trits(uint8_t* to, const uint8_t* t, unsigned lane) {
  using S = Shape<Set>;
  constexpr int kLanes = kSampleLanes<Set>;
  if constexpr (S::kTritsBytes % 4 != 0) {
    store_trits<Set, kLanes>(to, t, lane);
  } else {
    const auto* words = reinterpret_cast<const uint32_t*>(t);
    for_each_word<S::kTritsBytes / 4, kLanes>(lane, [&](int, int w) {
      const uint32_t* from = words + 5 * w;
      reinterpret_cast<uint32_t*>(to)[w] = packed_trits({from[0], from[1], from[2], from[3], from[4]});
    });
  }
}

/// Computes sample_rm and poly_S3_tobytes: writes rows of bytes, 0, 1, 255 for r and 0, 1, 2 for m, and both packed to
/// rm. kSampleLanes lanes work on an item; those beyond the batch repeat its last item.
template <class Set>
__global__ void __launch_bounds__(kThreads)
    sample_rm_kernel(uint8_t* r, uint8_t* m, uint8_t* rm, const uint8_t* coins, size_t count) {
  using S = Shape<Set>;
  constexpr int kLanes = kSampleLanes<Set>, kItems = kSampleItems<Set>;
  __shared__ alignas(16) uint8_t trits[kItems][S::kRow];
  const unsigned lane = threadIdx.x % kLanes;
  const size_t item = min(blockIdx.x * size_t{kItems} + threadIdx.x / kLanes, count - 1);
  uint8_t* t = trits[threadIdx.x / kLanes];
  const uint8_t* seed = coins + item * S::kCoinStride;
  auto* r_row = reinterpret_cast<uint32_t*>(r + item * S::kRow);
  auto* m_row = reinterpret_cast<uint32_t*>(m + item * S::kRow);
  uint8_t* packed = rm + item * S::kRmStride;
  sample_iid<Set, kLanes>(t, seed, lane, [r_row](int w, uint32_t x) { r_row[w] = centred_bytes(x); });
  store_sampled_trits<Set>(packed, t, lane);
  __syncwarp();
  if constexpr (S::kHps) {
    sample_fixed_type<Set>(t, seed + S::kIidBytes, lane);
    for_each_word<S::kRow / 4, kLanes>(lane, [&](int, int w) { m_row[w] = reinterpret_cast<const uint32_t*>(t)[w]; });
  } else {
    sample_iid<Set>(t, seed + S::kIidBytes, lane, [m_row](int w, uint32_t x) { m_row[w] = x; });
  }
  store_sampled_trits<Set>(packed + S::kTritsBytes, t, lane);
}

/// Computes poly_S3_tobytes of f and 1/f into sk.
template <class Set>
__global__ void __launch_bounds__(kThreads)
    store_f_kernel(uint8_t* sk, const uint8_t* f, const uint8_t* inverse_f, const ZeroMasks* zero, size_t count) {
  using S = Shape<Set>;
  __shared__ alignas(16) uint8_t trits[kWarps][2][S::kRow];
  const unsigned lane = warp_lane();
  const size_t item = warp_item();
  if (item >= count) return;
  uint8_t* tf = trits[threadIdx.x / 32][0];
  uint8_t* ti = trits[threadIdx.x / 32][1];
  uint8_t* record = sk + item * S::kSecretKeyBytes;
  const auto* words_f = reinterpret_cast<const uint32_t*>(f + item * S::kRow);
  const auto* words_i = reinterpret_cast<const uint32_t*>(inverse_f + item * S::kRow);
  for (int w = static_cast<int>(lane); w < S::kRow / 4; w += 32) {
    reinterpret_cast<uint32_t*>(tf)[w] = trit_bytes(words_f[w]);
    reinterpret_cast<uint32_t*>(ti)[w] = words_i[w];
  }
  __syncwarp();
  const uint8_t keep = static_cast<uint8_t>(~zero[item].f);  // f = 0 had been replaced by 1
  if (lane == 0) tf[0] &= keep, ti[0] &= keep;
  __syncwarp();
  store_trits<Set>(record, tf, lane);
  store_trits<Set>(record + S::kInverseFOffset, ti, lane);
}

/// Computes the sha3_256 of each lane's row of rm. scratch: kScratchWords words of shared memory.
template <class Set>
__device__ __forceinline__ void hash_rm(uint32_t (&digest)[8], const uint8_t* rm, size_t count, uint32_t* scratch) {
  using Rows = polykem::cuda::StridedRecords<Shape<Set>::kRmStride>;
  polykem::cuda::warp_sha3_256<0, Shape<Set>::kRmBytes>(digest, nullptr, scratch, warp_lane(), Rows{rm, count});
}

/// Computes sha3_256 of rm. Each lane computes one item.
template <class Set>
__global__ void __launch_bounds__(32, kLaneBlocks) hash_rm_kernel(uint8_t* ss, const uint8_t* rm, size_t count) {
  __shared__ uint32_t scratch[polykem::cuda::kScratchWords];
  const unsigned lane = warp_lane();
  const size_t first = blockIdx.x * size_t{32};
  uint32_t digest[8];
  hash_rm<Set>(digest, rm, count, scratch);
  if (first + lane < count) polykem::cuda::store_words(ss + (first + lane) * 32, digest);
}

/// Computes sha3_256, sha3_256.reject and cmov: writes the hash of rm or, if the item failed, the hash of the PRF key
/// and ct. Each lane computes one item.
template <class Set>
__global__ void __launch_bounds__(32, kLaneBlocks)
    hash_select_kernel(uint8_t* ss, const uint8_t* rm, const uint32_t* fail, Records sk, const uint8_t* ct,
                       size_t count) {
  using S = Shape<Set>;
  using Ciphertexts = polykem::cuda::StridedRecords<S::kCiphertextBytes>;
  __shared__ uint32_t scratch[polykem::cuda::kScratchWords];
  const unsigned lane = warp_lane();
  const size_t first = blockIdx.x * size_t{32};
  __shared__ uint32_t accepted[8][32];  // not in registers: the second hash needs them
  uint32_t digest[8];
  hash_rm<Set>(digest, rm, count, scratch);
#pragma unroll
  for (int j = 0; j < 8; ++j)
    accepted[j][lane] = digest[j];
  const uint8_t* const prf_key = sk[min(first + lane, count - 1)] + S::kPrfOffset;
  uint32_t prefix[8];
#pragma unroll
  for (int j = 0; j < 8; ++j)
    prefix[j] = record_word(prf_key, j, 32);
  polykem::cuda::warp_sha3_256<8, S::kCiphertextBytes>(digest, prefix, scratch, lane, Ciphertexts{ct, count});
  const uint32_t flags = first + lane < count ? fail[first + lane] : 0;
  const uint32_t mask = 0u - ((flags | (0u - flags)) >> 31);
#pragma unroll
  for (int j = 0; j < 8; ++j)
    digest[j] = (digest[j] & mask) | (accepted[j][lane] & ~mask);
  if (first + lane < count) polykem::cuda::store_words(ss + (first + lane) * 32, digest);
}

}  // namespace polykem::ntru::cuda
