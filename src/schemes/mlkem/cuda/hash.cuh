// SPDX-License-Identifier: Apache-2.0
// The hashes of the items, with a thread for each item: randombytes, H, G, J and round 3's KDF. A block is one warp;
// messages that are records go through shared memory. [FIPS203, 4.1]
#pragma once

#include "prim/drbg/cuda/drbg.cuh"
#include "prim/keccak/cuda/hash_item.cuh"
#include "schemes/mlkem/cuda/sample.cuh"

namespace polykem::mlkem::cuda {

using polykem::cuda::CoinDomain;
using polykem::cuda::hash_64;
using polykem::cuda::KeccakSuffix;
using polykem::cuda::kHashBlocks;
using polykem::cuda::kRateBytes;
using polykem::cuda::kSha3_512RateBytes;
using polykem::cuda::LaneItem;

/// Hashes the record of each lane's item, after a prefix of kPrefix words if there is one, by SHA3-256 or another
/// function of the same rate.
template <int kBytes, int kPrefix = 0, KeccakSuffix kSuffix = KeccakSuffix::kSha3>
__device__ __forceinline__ void hash_records(uint32_t (&digest)[8], Records records, size_t count,
                                             const uint32_t* prefix = nullptr) {
  __shared__ alignas(16) uint32_t scratch[polykem::cuda::kHashScratchWords];
  polykem::cuda::hash_records<kBytes, kPrefix, kSuffix>(digest, scratch, records, LaneItem(count), prefix);
}

template <int kWords>
__device__ __forceinline__ void make_coin_words(uint32_t (&words)[kWords], const Work& work, CoinDomain domain,
                                                size_t item) {
  polykem::cuda::make_coin_words(words, work.coins, work.coin_seed, domain, item);
}

/// Empties the list of entries of A that need a fourth block.
__device__ __forceinline__ void clear_retries(const Work& work) {
  if (work.retries != nullptr && blockIdx.x == 0 && threadIdx.x == 0) *work.retries = 0;
}

// ---- keygen

/// Computes randombytes and G, and stores rho, sigma and z.
template <class Set>
__global__ void __launch_bounds__(32, kHashBlocks) make_seeds_kernel(Work work) {
  using S = Shape<Set>;
  clear_retries(work);
  const LaneItem own(work.count);
  uint32_t coins[16], d[8], z[8], seeds[16];
  make_coin_words(coins, work, CoinDomain::kKeygen, own.index());
#pragma unroll
  for (int w = 0; w < 8; ++w)
    d[w] = coins[w], z[w] = coins[8 + w];
  uint64_t state[25];
  const uint64_t suffix = static_cast<uint64_t>(KeccakSuffix::kSha3);
  polykem::cuda::absorb_seed<kSha3_512RateBytes>(state, d, S::kKyber ? suffix : S::kK | suffix << 8);
  keccak_f1600(state);
  polykem::cuda::squeeze_words(seeds, state);
  if (!own.valid()) return;
  work.z.store(z, own.index());
#pragma unroll
  for (int w = 0; w < 8; ++w) {
    work.rho.at(w, own.index()) = seeds[w];
    work.prf_seed.at(w, own.index()) = seeds[8 + w];
  }
}

/// Writes H(pk) of new keys into sk.
template <class Set>
__global__ void __launch_bounds__(32, kHashBlocks) hash_new_pk_kernel(Work work) {
  using S = Shape<Set>;
  uint32_t digest[8];
  hash_records<S::kPublicKeyBytes>(digest, {work.pk_out, S::kPublicKeyBytes}, work.count);
  const LaneItem own(work.count);
  if (own.valid()) store_words(work.sk_out + own.index() * S::kSecretKeyBytes + S::kHashOffset, digest);
}

// ---- encaps

/// Computes randombytes, H(pk) and G, and stores m, K and r. If kExpanded, H(pk) is in the keys' expanded form.
template <class Set, bool kExpanded>
__global__ void __launch_bounds__(32, kHashBlocks) hash_encaps_kernel(Work work) {
  using S = Shape<Set>;
  clear_retries(work);
  const LaneItem own(work.count);
  uint32_t h[8], m[8], key[8], r[8];
  make_coin_words(m, work, CoinDomain::kEncaps, own.index());
  if constexpr (S::kKyber) {
    uint64_t state[25];
    polykem::cuda::absorb_seed<kRateBytes>(state, m, static_cast<uint64_t>(KeccakSuffix::kSha3));
    keccak_f1600(state);
    polykem::cuda::squeeze_words(m, state);
  }
  if (own.valid()) work.m.store(m, own.index());  // m is loaded again below, which saves registers during the next hash
  if constexpr (kExpanded) {
    load_words(h, reinterpret_cast<const uint8_t*>(work.keys[own.index()] + S::ExpandedKey::kHash));
  } else {
    hash_records<S::kPublicKeyBytes>(h, work.pk, work.count);
  }
  work.m.load(m, own.index());
  polykem::cuda::sha3_512_of_64(key, r, m, h);
  if (!own.valid()) return;
  work.prf_seed.store(r, own.index());
  work.secret.store(key, own.index());
}

/// For round 3, derives the shared secret from K and the new ciphertext.
template <class Set>
__global__ void __launch_bounds__(32, kHashBlocks) derive_encaps_kernel(Work work) {
  using S = Shape<Set>;
  uint32_t hash[8], key[8], secret[8];
  hash_records<S::kCiphertextBytes>(hash, {work.ct_out, S::kCiphertextBytes}, work.count);
  const LaneItem own(work.count);
  work.secret.load(key, own.index());
  hash_64<kRateBytes, KeccakSuffix::kShake>(secret, key, hash);
  if (own.valid()) store_words(work.ss_out + own.index() * kSymBytes, secret);
}

// ---- decaps

/// Stores whether the hash of pk in sk is right. Both are public.
template <class Set>
__global__ void __launch_bounds__(32, kHashBlocks) check_sk_kernel(Work work) {
  using S = Shape<Set>;
  uint32_t digest[8], stored[8];
  hash_records<S::kPublicKeyBytes>(digest, work.pk, work.count);
  const LaneItem own(work.count);
  load_words(stored, work.sk[own.index()] + S::kHashOffset);
  uint32_t differences = 0;
#pragma unroll
  for (int w = 0; w < 8; ++w)
    differences |= digest[w] ^ stored[w];
  if (own.valid()) work.valid.at(0, own.index()) = differences == 0 ? 1 : 0;
}

/// Computes K, r = G(m, H(pk)), and J(z, c), the rejection secret, or for round 3 H(c).
template <class Set, bool kExpanded>
__global__ void __launch_bounds__(32, kHashBlocks) hash_decaps_kernel(Work work) {
  using S = Shape<Set>;
  clear_retries(work);
  const LaneItem own(work.count);
  {
    const uint8_t* const hash = kExpanded
                                    ? reinterpret_cast<const uint8_t*>(work.keys[own.index()] + S::ExpandedKey::kHash)
                                    : work.sk[own.index()] + S::kHashOffset;
    uint32_t h[8], m[8], key[8], r[8];
    load_words(h, hash);
    work.m.load(m, own.index());
    polykem::cuda::sha3_512_of_64(key, r, m, h);
    if (own.valid()) {
      work.prf_seed.store(r, own.index());
      work.secret.store(key, own.index());
    }
  }
  uint32_t rejection_or_ct_hash[8];
  if constexpr (S::kKyber) {
    hash_records<S::kCiphertextBytes>(rejection_or_ct_hash, work.ct, work.count);
  } else {
    const uint8_t* const secret = kExpanded
                                      ? reinterpret_cast<const uint8_t*>(work.keys[own.index()] + S::ExpandedKey::kZ)
                                      : work.sk[own.index()] + S::kZOffset;
    uint32_t z[8];
    load_words(z, secret);
    hash_records<S::kCiphertextBytes, 8, KeccakSuffix::kShake>(rejection_or_ct_hash, work.ct, work.count, z);
  }
  if (own.valid()) work.rejection_or_ct_hash.store(rejection_or_ct_hash, own.index());
}

/// For round 3, derives the shared secret from K or z, and H(c).
template <class Set, bool kExpanded>
__global__ void __launch_bounds__(32, kHashBlocks) derive_decaps_kernel(Work work) {
  using S = Shape<Set>;
  const LaneItem own(work.count);
  const uint8_t* const rejected = kExpanded
                                      ? reinterpret_cast<const uint8_t*>(work.keys[own.index()] + S::ExpandedKey::kZ)
                                      : work.sk[own.index()] + S::kZOffset;
  uint32_t key[8], z[8], hash[8], secret[8];
  load_words(z, rejected);
  work.secret.load(key, own.index());
  work.rejection_or_ct_hash.load(hash, own.index());
  const uint32_t fail = work.fail.at(0, own.index());
#pragma unroll
  for (int w = 0; w < 8; ++w)
    key[w] ^= fail & (key[w] ^ z[w]);
  hash_64<kRateBytes, KeccakSuffix::kShake>(secret, key, hash);
  if (own.valid()) store_words(work.ss_out + own.index() * kSymBytes, secret);
}

// ---- expanded keys

/// Writes H(pk) into the expanded form of every key. For a secret key it writes the stored H(pk), whether that is
/// right, and z.
template <class Set, bool kSecret>
__global__ void __launch_bounds__(32, kHashBlocks)
    expand_hashes_kernel(std::byte* expanded, size_t key_bytes, Work work) {
  using S = Shape<Set>;
  clear_retries(work);
  const LaneItem own(work.count);
  auto* const expanded_key = reinterpret_cast<uint8_t*>(expanded + own.index() * key_bytes);
  uint32_t hash[8] = {};
  if (!kSecret || !S::kKyber) hash_records<S::kPublicKeyBytes>(hash, work.pk, work.count);
  if constexpr (kSecret) {
    uint32_t stored[8], z[8], differences = 0;
    load_words(stored, work.sk[own.index()] + S::kHashOffset);
    load_words(z, work.sk[own.index()] + S::kZOffset);
#pragma unroll
    for (int w = 0; w < 8; ++w) {
      differences |= hash[w] ^ stored[w];
      hash[w] = stored[w];
    }
    if (!own.valid()) return;
    const uint32_t valid[1] = {S::kKyber || differences == 0 ? 1u : 0u};
    store_words(expanded_key + S::ExpandedKey::kZ, z);
    store_words(expanded_key + S::ExpandedKey::kSecretValid, valid);
  }
  if (own.valid()) store_words(expanded_key + S::ExpandedKey::kHash, hash);
}

}  // namespace polykem::mlkem::cuda
