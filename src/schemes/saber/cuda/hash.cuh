// SPDX-License-Identifier: Apache-2.0
// The hashes of the items, with a thread for each item; a block is one warp. One launch computes two or three hashes
// that do not need each other: its first blocks make A, which takes longest. [SABER20, 2.5]
#pragma once

#include "prim/drbg/cuda/drbg.cuh"
#include "prim/keccak/cuda/hash_item.cuh"
#include "schemes/saber/cuda/work.cuh"

namespace polykem::saber::cuda {

using polykem::cuda::CoinDomain;
using polykem::cuda::hash_64;
using polykem::cuda::hash_records;
using polykem::cuda::keccak_f1600;
using polykem::cuda::KeccakSuffix;
using polykem::cuda::kHashBlocks;
using polykem::cuda::kRateBytes;
using polykem::cuda::kShake128RateBytes;
using polykem::cuda::LaneItem;

inline constexpr int kShakeWords = kShake128RateBytes / 8;
inline constexpr auto kSha3Suffix = static_cast<uint64_t>(KeccakSuffix::kSha3);
inline constexpr auto kShakeSuffix = static_cast<uint64_t>(KeccakSuffix::kShake);

/// The blocks of a multiprocessor, in place of kHashBlocks, for a kernel of several tasks. It needs more
/// registers, and fewer warps hash as fast.
inline constexpr int kMixedBlocks = kHashBlocks == 1 ? 1 : 20;

/// The shared memory of a block, which is one warp.
union alignas(16) HashMemory {
  uint32_t hashed[polykem::cuda::kHashScratchWords];
  uint64_t squeezed[32 * kShakeWords];
};

/// Writes kBytes bytes of SHAKE128 of each lane's seed to the row of the lane's item. Rows begin `stride` bytes apart,
/// a multiple of 8. All lanes call this together.
template <int kBytes>
__device__ __forceinline__ void squeeze_rows(HashMemory& memory, uint8_t* rows, size_t stride, const LaneItem& item,
                                             const uint32_t (&seed)[8]) {
  constexpr int kBlocks = (kBytes + kShake128RateBytes - 1) / kShake128RateBytes;
  constexpr int kLastWords = kBytes / 8 - (kBlocks - 1) * kShakeWords;
  static_assert(kBytes % 8 == 0);
  uint64_t state[25];
  polykem::cuda::absorb_seed<kShake128RateBytes>(state, seed, kShakeSuffix);
  const unsigned valid = item.valid_lanes();
  uint8_t* block_of_first = rows + item.first * stride;
#pragma unroll 1
  for (int block = 0; block < kBlocks; ++block) {
    keccak_f1600(state);
#pragma unroll
    for (int j = 0; j < kShakeWords; ++j)
      memory.squeezed[item.lane * kShakeWords + j] = state[j];
    __syncwarp();
    if (item.lane < static_cast<unsigned>(block + 1 < kBlocks ? kShakeWords : kLastWords)) {
      uint8_t* to = block_of_first + 8 * item.lane;
#pragma unroll 8
      for (unsigned row = 0; row < valid; ++row, to += stride)
        *reinterpret_cast<uint64_t*>(to) = memory.squeezed[row * kShakeWords + item.lane];
    }
    block_of_first += kShake128RateBytes;
    __syncwarp();
  }
}

/// Makes A of each key from its seed. [SABER20, GenMatrix]
template <class Set>
__device__ __forceinline__ void squeeze_a(HashMemory& memory, uint8_t* rows, size_t stride, const SeedArray& seeds,
                                          const LaneItem& item) {
  uint32_t seed[8];
  seeds.load(seed, item.index());
  squeeze_rows<Shape<Set>::kMatrixBytes>(memory, rows, stride, item, seed);
}

/// Makes the bytes from which each item's s or s' is sampled. [SABER20, GenSecret]
template <class Set>
__device__ __forceinline__ void squeeze_noise(HashMemory& memory, const Work& work, const LaneItem& item,
                                              const uint32_t (&seed)[8]) {
  squeeze_rows<Shape<Set>::kNoiseBytes>(memory, work.noise, Shape<Set>::kNoiseBytes, item, seed);
}

/// Computes K, r = SHA3-512(m, h), where h is H(pk), and stores K. [SABER20, Saber.KEM.Encaps]
template <class Set>
__device__ __forceinline__ void hash_m(uint32_t (&r)[8], const Work& work, const LaneItem& item,
                                       const uint32_t (&h)[8]) {
  uint32_t m[8], key[8];
  work.m.load(m, item.index());
  polykem::cuda::sha3_512_of_64(key, r, m, h);
  if (item.valid()) work.secret.store(key, item.index());
}

/// Stores the shared secret: SHA3-256 of a key and the hash of a ciphertext.
__device__ __forceinline__ void store_secret(const Work& work, const LaneItem& item, const uint32_t (&key)[8],
                                             const uint32_t (&hash)[8]) {
  uint32_t secret[8];
  hash_64<kRateBytes, KeccakSuffix::kSha3>(secret, key, hash);
  if (item.valid()) store_words(work.ss_out + item.index() * kSymBytes, secret);
}

// ---- keygen

/// Computes randombytes and the seed that is published, and stores both seeds and z.
template <class Set>
__global__ void __launch_bounds__(32, kHashBlocks) make_seeds_kernel(Work work) {
  const LaneItem own(work.count);
  uint32_t coins[24], seed[8], part[8];
  polykem::cuda::make_coin_words(coins, work.coins, work.coin_seed, CoinDomain::kKeygen, own.index());
#pragma unroll
  for (int w = 0; w < 8; ++w)
    part[w] = coins[8 + w], seed[w] = coins[16 + w];
  if (own.valid()) work.seed_s.store(part, own.index());
  if (own.valid()) work.z.store(seed, own.index());
#pragma unroll
  for (int w = 0; w < 8; ++w)
    part[w] = coins[w];
  uint64_t state[25];
  polykem::cuda::absorb_seed<kShake128RateBytes>(state, part, kShakeSuffix);
  keccak_f1600(state);
  polykem::cuda::squeeze_words(seed, state);
  if (own.valid()) work.seed_a.store(seed, own.index());
}

/// Makes A in the first a_blocks blocks, and the bytes from which s is sampled in the others.
template <class Set>
__global__ void __launch_bounds__(32, kMixedBlocks) expand_seeds_kernel(Work work, uint32_t a_blocks) {
  __shared__ HashMemory memory;
  if (blockIdx.x < a_blocks) {
    const LaneItem own(work.count);
    squeeze_a<Set>(memory, work.a, Shape<Set>::kMatrixBytes, seeds_in(work.seed_a), own);
  } else {
    const LaneItem own(work.count, blockIdx.x - a_blocks);
    uint32_t seed[8];
    work.seed_s.load(seed, own.index());
    squeeze_noise<Set>(memory, work, own, seed);
  }
}

/// Writes H(pk) of new keys into sk.
template <class Set>
__global__ void __launch_bounds__(32, kHashBlocks) hash_new_pk_kernel(Work work) {
  using S = Shape<Set>;
  __shared__ HashMemory memory;
  const LaneItem own(work.count);
  uint32_t digest[8];
  hash_records<S::kPublicKeyBytes>(digest, memory.hashed, {work.pk_out, S::kPublicKeyBytes}, own);
  if (own.valid()) store_words(work.sk_out + own.index() * S::kSecretKeyBytes + S::kHashOffset, digest);
}

// ---- encaps

/// Makes A in the first a_blocks blocks, which are none if the keys are expanded. The others compute randombytes,
/// H(pk), K and r, and the bytes from which s' is sampled.
template <class Set>
__global__ void __launch_bounds__(32, kMixedBlocks) hash_encaps_kernel(Work work, uint32_t a_blocks) {
  using S = Shape<Set>;
  __shared__ HashMemory memory;
  if (blockIdx.x < a_blocks) {
    const LaneItem own(work.count);
    return squeeze_a<Set>(memory, work.a, S::kMatrixBytes, work.published_seeds<S>(), own);
  }
  const LaneItem own(work.count, blockIdx.x - a_blocks);
  uint32_t h[8], m[8], r[8];
  polykem::cuda::make_coin_words(m, work.coins, work.coin_seed, CoinDomain::kEncaps, own.index());
  uint64_t state[25];
  polykem::cuda::absorb_seed<kRateBytes>(state, m, kSha3Suffix);
  keccak_f1600(state);
  polykem::cuda::squeeze_words(m, state);
  if (own.valid()) work.m.store(m, own.index());  // m is loaded again below, which saves registers during the next hash
  if (work.has_expanded_keys()) {
    load_words(h, work.expanded_key(own.index()) + S::ExpandedKey::kHash);
  } else {
    hash_records<S::kPublicKeyBytes>(h, memory.hashed, work.pk, own);
  }
  __syncwarp();
  hash_m<Set>(r, work, own, h);
  squeeze_noise<Set>(memory, work, own, r);
}

/// Derives the shared secret from K and the new ciphertext.
template <class Set>
__global__ void __launch_bounds__(32, kHashBlocks) derive_encaps_kernel(Work work) {
  using S = Shape<Set>;
  __shared__ HashMemory memory;
  const LaneItem own(work.count);
  uint32_t hash[8], key[8];
  hash_records<S::kCiphertextBytes>(hash, memory.hashed, {work.ct_out, S::kCiphertextBytes}, own);
  work.secret.load(key, own.index());
  store_secret(work, own, key, hash);
}

// ---- decaps

/// Makes A in the first a_blocks blocks, which are none if the keys are expanded. The next other_blocks blocks compute
/// H(c); as many blocks after them compute K and r, and the bytes from which s' is sampled.
template <class Set>
__global__ void __launch_bounds__(32, kMixedBlocks)
    hash_decaps_kernel(Work work, uint32_t a_blocks, uint32_t other_blocks) {
  using S = Shape<Set>;
  __shared__ HashMemory memory;
  if (blockIdx.x < a_blocks) {
    const LaneItem own(work.count);
    squeeze_a<Set>(memory, work.a, S::kMatrixBytes, work.published_seeds<S>(), own);
  } else if (blockIdx.x < a_blocks + other_blocks) {
    const LaneItem own(work.count, blockIdx.x - a_blocks);
    uint32_t hash[8];
    hash_records<S::kCiphertextBytes>(hash, memory.hashed, work.ct, own);
    if (own.valid()) work.ct_hash.store(hash, own.index());
  } else {
    const LaneItem own(work.count, blockIdx.x - a_blocks - other_blocks);
    uint32_t h[8], r[8];
    load_words(h, work.hash_of<S>(own.index()));
    hash_m<Set>(r, work, own, h);
    squeeze_noise<Set>(memory, work, own, r);
  }
}

/// Derives the shared secret from K or z, and H(c).
template <class Set>
__global__ void __launch_bounds__(32, kHashBlocks) derive_decaps_kernel(Work work) {
  const LaneItem own(work.count);
  uint32_t key[8], z[8], hash[8];
  load_words(z, work.z_of<Shape<Set>>(own.index()));
  work.secret.load(key, own.index());
  work.ct_hash.load(hash, own.index());
  const uint32_t fail = work.fail.at(0, own.index());
#pragma unroll
  for (int w = 0; w < 8; ++w)
    key[w] ^= fail & (key[w] ^ z[w]);
  store_secret(work, own, key, hash);
}

// ---- expanded keys

/// Writes A into the expanded form of every key.
template <class Set>
__global__ void __launch_bounds__(32, kHashBlocks) expand_a_kernel(uint8_t* expanded, size_t key_bytes, Work work) {
  __shared__ HashMemory memory;
  squeeze_a<Set>(memory, expanded, key_bytes, work.published_seeds<Shape<Set>>(), LaneItem(work.count));
}

/// Writes H(pk) into the expanded form of every public key.
template <class Set>
__global__ void __launch_bounds__(32, kHashBlocks) expand_hash_kernel(uint8_t* expanded, size_t key_bytes, Work work) {
  using S = Shape<Set>;
  __shared__ HashMemory memory;
  const LaneItem own(work.count);
  uint32_t digest[8];
  hash_records<S::kPublicKeyBytes>(digest, memory.hashed, work.pk, own);
  if (own.valid()) store_words(expanded + own.index() * key_bytes + S::ExpandedKey::kHash, digest);
}

}  // namespace polykem::saber::cuda
