// SPDX-License-Identifier: Apache-2.0
// The random bytes and hashes of items. One thread computes an item, in blocks of one warp. [LAC19]
#pragma once

#include "prim/drbg/cuda/drbg.cuh"
#include "schemes/lac/cuda/work.cuh"
#include "schemes/lac/sha256/cuda/sha256.cuh"

namespace polykem::lac::cuda {

using polykem::cuda::CoinDomain;

/// Makes 32 random bytes of an item: the caller's coins or the generator's.
__device__ __forceinline__ void make_coins(uint32_t (&words)[8], const Work& work, CoinDomain domain, size_t item) {
  if (work.coins != nullptr) {
#pragma unroll
    for (int w = 0; w < 8; ++w)
      words[w] = record_word(work.coins + item * kSeedBytes, w, kSeedBytes);
  } else {
    polykem::cuda::generate_words(words, work.coin_seed, domain, item);
  }
}

/// Makes the seeds of key pairs. S: the set, so that each has its own copy of the kernel.
template <class S>
__global__ void __launch_bounds__(32) make_seed_kernel(Work work) {
  const LaneItem own(work.count);
  uint32_t seed[8];
  make_coins(seed, work, CoinDomain::kKeygen, own.index());
  if (own.valid()) work.seed.store(seed, own.index());
}

/// Makes m and its hash.
template <class S>
__global__ void __launch_bounds__(32) make_m_kernel(Work work) {
  const LaneItem own(work.count);
  uint32_t m[8], hash[8];
  make_coins(m, work, CoinDomain::kEncaps, own.index());
  polykem::cuda::sha256_of_digest(hash, m);
  if (!own.valid()) return;
  work.m.store(m, own.index());
  work.seed.store(hash, own.index());
}

/// Computes the hash of m.
template <class S>
__global__ void __launch_bounds__(32) hash_m_kernel(Work work) {
  const LaneItem own(work.count);
  uint32_t m[8], hash[8];
  work.m.load(m, own.index());
  polykem::cuda::sha256_of_digest(hash, m);
  if (own.valid()) work.seed.store(hash, own.index());
}

/// Computes SHA-256(s) of keys.
template <int kN>
__global__ void __launch_bounds__(32) hash_secret_kernel(ItemBlocks out, Records sk, size_t keys) {
  const LaneItem own(keys);
  const uint8_t* const record = sk[own.index()];
  uint32_t hash[8];
  polykem::cuda::sha256<kN>(hash, [&](int w, int) { return record_word(record, w, kN); });
  if (own.valid()) out.store(hash, own.index());
}

/// Computes the shared secret from m and the ciphertext. kDecaps: where the ciphertext is rejected, SHA-256(s) takes
/// the place of m.
template <int kCiphertextBytes, bool kDecaps>
__global__ void __launch_bounds__(32) hash_ss_kernel(Work work, Records ct, bool shared_key) {
  const LaneItem own(work.count);
  const uint8_t* const record = ct[own.index()];
  uint32_t first[8], hash[8];
  work.m.load(first, own.index());
  if constexpr (kDecaps) {
    uint32_t rejected[8];
    work.rejected.load(rejected, shared_key ? 0 : own.index());
    const uint32_t fail = work.fail[own.index()];
#pragma unroll
    for (int w = 0; w < 8; ++w)
      first[w] ^= fail & (first[w] ^ rejected[w]);
  }
  polykem::cuda::sha256<kSeedBytes + kCiphertextBytes>(hash, [&](int w, int i) {
    const uint32_t loaded = record_word(record, w < 8 ? 0 : w - 8, kCiphertextBytes);
    return w < 8 ? first[i % 8] : loaded;
  });
  if (own.valid()) polykem::cuda::store_words(work.ss_out + own.index() * kSeedBytes, hash);
}

}  // namespace polykem::lac::cuda
