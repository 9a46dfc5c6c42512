// SPDX-License-Identifier: Apache-2.0
// The kernels of hash.cuh for batches too small to fill the GPU with a thread for each item. A warp computes a Keccak
// state, and each of an item's hashes that do not need each other has a block. [SABER20, 2.5]
#pragma once

#include "prim/keccak/cuda/hash_warp.cuh"
#include "schemes/saber/cuda/hash.cuh"

namespace polykem::saber::cuda {

using polykem::cuda::WarpHashes;

inline constexpr unsigned kSymWords = WarpHashes::kSymWords;

/// Writes kBytes bytes of SHAKE128 of a seed, whose words are in the first lanes, to a row.
template <int kBytes>
__device__ __forceinline__ void warp_squeeze_row(const WarpHashes& hash, uint8_t* row, uint64_t seed) {
  static_assert(kBytes % 8 == 0);
  auto* const words = reinterpret_cast<uint64_t*>(row);
  uint64_t state = hash.of<kShakeWords>(seed, kSymWords, kShakeSuffix);
#pragma unroll 1
  for (unsigned first = 0; first < kBytes / 8; first += kShakeWords) {
    if (first > 0) state = hash.keccak.permuted(state);
    if (hash.lane < kShakeWords && first + hash.lane < kBytes / 8) words[first + hash.lane] = state;
  }
}

template <class Set>
__device__ __forceinline__ void warp_squeeze_noise(const WarpHashes& hash, const Work& work, size_t item,
                                                   uint64_t seed) {
  constexpr int kBytes = Shape<Set>::kNoiseBytes;
  warp_squeeze_row<kBytes>(hash, work.noise + item * kBytes, seed);
}

/// Makes A of an item from the seed in its public key.
template <class Set>
__device__ __forceinline__ void warp_squeeze_a(const WarpHashes& hash, const Work& work, size_t item) {
  using S = Shape<Set>;
  warp_squeeze_row<S::kMatrixBytes>(hash, work.a + item * S::kMatrixBytes, hash.load(work.pk[item] + S::kVectorBytes));
}

/// Computes K, r = SHA3-512(m, h), where h is H(pk); stores K and returns r.
__device__ __forceinline__ uint64_t warp_hash_m(const WarpHashes& hash, const Work& work, size_t item, uint64_t m,
                                                uint64_t h) {
  const uint64_t both = hash.of_two<WarpHashes::kSha3_512Words, KeccakSuffix::kSha3>(m, h);
  hash.store(work.secret, item, both);
  return __shfl_down_sync(0xffffffff, both, kSymWords);
}

// ---- keygen

template <class Set>
__global__ void __launch_bounds__(32) warp_make_seeds_kernel(Work work) {
  const size_t item = blockIdx.x;
  const WarpHashes hash;
  const uint64_t coins = hash.make_coins<3 * kSymWords>(work.coins, work.coin_seed, CoinDomain::kKeygen, item);
  hash.store(work.seed_s, item, coins, kSymWords);
  hash.store(work.z, item, coins, 2 * kSymWords);
  hash.store(work.seed_a, item, hash.of<kShakeWords>(coins, kSymWords, kShakeSuffix));
}

template <class Set>
__global__ void __launch_bounds__(32) warp_expand_seeds_kernel(Work work, uint32_t a_blocks) {
  using S = Shape<Set>;
  const WarpHashes hash;
  if (blockIdx.x < a_blocks) {
    const size_t item = blockIdx.x;
    warp_squeeze_row<S::kMatrixBytes>(hash, work.a + item * S::kMatrixBytes, hash.load(work.seed_a, item));
  } else {
    const size_t item = blockIdx.x - a_blocks;
    warp_squeeze_noise<Set>(hash, work, item, hash.load(work.seed_s, item));
  }
}

template <class Set>
__global__ void __launch_bounds__(32) warp_hash_new_pk_kernel(Work work) {
  using S = Shape<Set>;
  const size_t item = blockIdx.x;
  const WarpHashes hash;
  const uint64_t digest = hash.record<S::kPublicKeyBytes>(work.pk_out + item * S::kPublicKeyBytes);
  hash.store(work.sk_out + item * S::kSecretKeyBytes + S::kHashOffset, digest);
}

// ---- encaps

template <class Set>
__global__ void __launch_bounds__(32) warp_hash_encaps_kernel(Work work, uint32_t a_blocks) {
  using S = Shape<Set>;
  const WarpHashes hash;
  if (blockIdx.x < a_blocks) return warp_squeeze_a<Set>(hash, work, blockIdx.x);
  const size_t item = blockIdx.x - a_blocks;
  const uint64_t coins = hash.make_coins<kSymWords>(work.coins, work.coin_seed, CoinDomain::kEncaps, item);
  const uint64_t m = hash.of<WarpHashes::kWords>(coins, kSymWords, kSha3Suffix);
  hash.store(work.m, item, m);
  const uint64_t h = work.has_expanded_keys() ? hash.load(work.expanded_key(item) + S::ExpandedKey::kHash)
                                              : hash.record<S::kPublicKeyBytes>(work.pk[item]);
  warp_squeeze_noise<Set>(hash, work, item, warp_hash_m(hash, work, item, m, h));
}

template <class Set>
__global__ void __launch_bounds__(32) warp_derive_encaps_kernel(Work work) {
  using S = Shape<Set>;
  const size_t item = blockIdx.x;
  const WarpHashes hash;
  const uint64_t digest = hash.record<S::kCiphertextBytes>(work.ct_out + item * S::kCiphertextBytes);
  const uint64_t key = hash.load(work.secret, item);
  hash.store(work.ss_out + item * kSymBytes, hash.of_two<WarpHashes::kWords, KeccakSuffix::kSha3>(key, digest));
}

// ---- decaps

template <class Set>
__global__ void __launch_bounds__(32) warp_hash_decaps_kernel(Work work, uint32_t a_blocks, uint32_t other_blocks) {
  using S = Shape<Set>;
  const WarpHashes hash;
  if (blockIdx.x < a_blocks) {
    warp_squeeze_a<Set>(hash, work, blockIdx.x);
  } else if (blockIdx.x < a_blocks + other_blocks) {
    const size_t item = blockIdx.x - a_blocks;
    hash.store(work.ct_hash, item, hash.record<S::kCiphertextBytes>(work.ct[item]));
  } else {
    const size_t item = blockIdx.x - a_blocks - other_blocks;
    const uint64_t m = hash.load(work.m, item), h = hash.load(work.hash_of<S>(item));
    warp_squeeze_noise<Set>(hash, work, item, warp_hash_m(hash, work, item, m, h));
  }
}

template <class Set>
__global__ void __launch_bounds__(32) warp_derive_decaps_kernel(Work work) {
  const size_t item = blockIdx.x;
  const WarpHashes hash;
  const uint32_t fail = work.fail.at(0, item);
  uint64_t key = hash.load(work.secret, item);
  key ^= (fail | static_cast<uint64_t>(fail) << 32) & (key ^ hash.load(work.z_of<Shape<Set>>(item)));
  const uint64_t secret = hash.of_two<WarpHashes::kWords, KeccakSuffix::kSha3>(key, hash.load(work.ct_hash, item));
  hash.store(work.ss_out + item * kSymBytes, secret);
}

// ---- expanded keys

template <class Set>
__global__ void __launch_bounds__(32) warp_expand_a_kernel(uint8_t* expanded, size_t key_bytes, Work work) {
  using S = Shape<Set>;
  const size_t item = blockIdx.x;
  const WarpHashes hash;
  warp_squeeze_row<S::kMatrixBytes>(hash, expanded + item * key_bytes, hash.load(work.pk[item] + S::kVectorBytes));
}

template <class Set>
__global__ void __launch_bounds__(32) warp_expand_hash_kernel(uint8_t* expanded, size_t key_bytes, Work work) {
  using S = Shape<Set>;
  const size_t item = blockIdx.x;
  const WarpHashes hash;
  hash.store(expanded + item * key_bytes + S::ExpandedKey::kHash, hash.record<S::kPublicKeyBytes>(work.pk[item]));
}

}  // namespace polykem::saber::cuda
