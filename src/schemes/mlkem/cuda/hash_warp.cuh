// SPDX-License-Identifier: Apache-2.0
// The kernels of hash.cuh for batches too small to fill the GPU with a thread for each item. A warp computes a Keccak
// state, and a block computes an item. [FIPS203, 4.1]
#pragma once

#include "prim/keccak/cuda/hash_warp.cuh"
#include "schemes/mlkem/cuda/hash.cuh"

namespace polykem::mlkem::cuda {

using polykem::cuda::WarpHashes;

/// Computes randombytes and G, and stores rho, sigma and z.
template <class Set>
__global__ void __launch_bounds__(32) warp_make_seeds_kernel(Work work) {
  using S = Shape<Set>;
  clear_retries(work);
  const size_t item = blockIdx.x;
  const WarpHashes hash;
  const uint64_t coins = hash.make_coins<8>(work.coins, work.coin_seed, CoinDomain::kKeygen, item);
  const uint64_t suffix = static_cast<uint64_t>(KeccakSuffix::kSha3);
  const uint64_t seeds =
      hash.of<WarpHashes::kSha3_512Words>(coins, WarpHashes::kSymWords, S::kKyber ? suffix : S::kK | suffix << 8);
  hash.store(work.z, item, coins, WarpHashes::kSymWords);
  hash.store(work.rho, item, seeds);
  hash.store(work.prf_seed, item, seeds, WarpHashes::kSymWords);
}

/// Writes H(pk) of new keys into sk.
template <class Set>
__global__ void __launch_bounds__(32) warp_hash_new_pk_kernel(Work work) {
  using S = Shape<Set>;
  const size_t item = blockIdx.x;
  const WarpHashes hash;
  const uint64_t digest = hash.record<S::kPublicKeyBytes>(work.pk_out + item * S::kPublicKeyBytes);
  hash.store(work.sk_out + item * S::kSecretKeyBytes + S::kHashOffset, digest);
}

/// Computes randombytes, H(pk) and G, and stores m, K and r. If kExpanded, H(pk) is in the keys' expanded form.
template <class Set, bool kExpanded>
__global__ void __launch_bounds__(32) warp_hash_encaps_kernel(Work work) {
  using S = Shape<Set>;
  clear_retries(work);
  const size_t item = blockIdx.x;
  const WarpHashes hash;
  uint64_t m = hash.make_coins<4>(work.coins, work.coin_seed, CoinDomain::kEncaps, item), h;
  if constexpr (S::kKyber)
    m = hash.of<WarpHashes::kWords>(m, WarpHashes::kSymWords, static_cast<uint64_t>(KeccakSuffix::kSha3));
  hash.store(work.m, item, m);
  if constexpr (kExpanded) {
    h = hash.load(reinterpret_cast<const uint8_t*>(work.keys[item] + S::ExpandedKey::kHash));
  } else {
    h = hash.record<S::kPublicKeyBytes>(work.pk[item]);
  }
  const uint64_t both = hash.of_two<WarpHashes::kSha3_512Words, KeccakSuffix::kSha3>(m, h);
  hash.store(work.secret, item, both);
  hash.store(work.prf_seed, item, both, WarpHashes::kSymWords);
}

/// For round 3, derives the shared secret from K and the new ciphertext.
template <class Set>
__global__ void __launch_bounds__(32) warp_derive_encaps_kernel(Work work) {
  using S = Shape<Set>;
  const size_t item = blockIdx.x;
  const WarpHashes hash;
  const uint64_t digest = hash.record<S::kCiphertextBytes>(work.ct_out + item * S::kCiphertextBytes);
  const uint64_t key = hash.load(work.secret, item);
  hash.store(work.ss_out + item * kSymBytes, hash.of_two<WarpHashes::kWords, KeccakSuffix::kShake>(key, digest));
}

/// The number of warps in a block of warp_hash_decaps_kernel: one for G, one for J or H(c) and, if keys are records of
/// ML-KEM, one that checks them.
template <class Set, bool kExpanded>
inline constexpr unsigned kDecapsHashes = kExpanded || Shape<Set>::kKyber ? 2 : 3;

/// Computes all hashes of decaps at the same time: K, r = G(m, H(pk)); J(z, c), or for round 3 H(c); and whether the
/// hash of pk in sk is right, which is public.
template <class Set, bool kExpanded>
__global__ void __launch_bounds__(32 * kDecapsHashes<Set, kExpanded>) warp_hash_decaps_kernel(Work work) {
  using S = Shape<Set>;
  clear_retries(work);
  const size_t item = blockIdx.x;
  const unsigned part = threadIdx.x / 32;
  const WarpHashes hash;
  const auto* const expanded_key = kExpanded ? reinterpret_cast<const uint8_t*>(work.keys[item]) : nullptr;
  const uint8_t* const stored = kExpanded ? expanded_key + S::ExpandedKey::kHash : work.sk[item] + S::kHashOffset;
  if (part == 0) {
    const uint64_t m = hash.load(work.m, item), h = hash.load(stored);
    const uint64_t both = hash.of_two<WarpHashes::kSha3_512Words, KeccakSuffix::kSha3>(m, h);
    hash.store(work.secret, item, both);
    hash.store(work.prf_seed, item, both, WarpHashes::kSymWords);
  } else if (part == 1) {
    uint64_t rejection_or_ct_hash;
    if constexpr (S::kKyber) {
      rejection_or_ct_hash = hash.record<S::kCiphertextBytes>(work.ct[item]);
    } else {
      const uint8_t* const z = kExpanded ? expanded_key + S::ExpandedKey::kZ : work.sk[item] + S::kZOffset;
      rejection_or_ct_hash = hash.record<S::kCiphertextBytes, KeccakSuffix::kShake>(work.ct[item], z);
    }
    hash.store(work.rejection_or_ct_hash, item, rejection_or_ct_hash);
  } else if constexpr (kDecapsHashes<Set, kExpanded> == 3) {
    const uint64_t digest = hash.record<S::kPublicKeyBytes>(work.pk[item]);
    const bool differs = hash.lane < WarpHashes::kSymWords && digest != hash.load(stored);
    const bool wrong = __any_sync(0xffffffff, differs);
    if (hash.lane == 0) work.valid.at(0, item) = wrong ? 0 : 1;
  }
}

/// For round 3, derives the shared secret from K or z, and H(c).
template <class Set, bool kExpanded>
__global__ void __launch_bounds__(32) warp_derive_decaps_kernel(Work work) {
  using S = Shape<Set>;
  const size_t item = blockIdx.x;
  const WarpHashes hash;
  const uint8_t* const rejected =
      kExpanded ? reinterpret_cast<const uint8_t*>(work.keys[item] + S::ExpandedKey::kZ) : work.sk[item] + S::kZOffset;
  const uint32_t fail = work.fail.at(0, item);
  uint64_t key = hash.load(work.secret, item);
  key ^= (fail | static_cast<uint64_t>(fail) << 32) & (key ^ hash.load(rejected));
  const uint64_t secret =
      hash.of_two<WarpHashes::kWords, KeccakSuffix::kShake>(key, hash.load(work.rejection_or_ct_hash, item));
  hash.store(work.ss_out + item * kSymBytes, secret);
}

/// Writes H(pk) into the expanded form of every key. For a secret key it writes the stored H(pk), whether that is
/// right, and z.
template <class Set, bool kSecret>
__global__ void __launch_bounds__(32) warp_expand_hashes_kernel(std::byte* expanded, size_t key_bytes, Work work) {
  using S = Shape<Set>;
  clear_retries(work);
  const size_t item = blockIdx.x;
  const WarpHashes hash;
  auto* const expanded_key = reinterpret_cast<uint8_t*>(expanded + item * key_bytes);
  uint64_t digest = 0;
  if constexpr (!kSecret || !S::kKyber) digest = hash.record<S::kPublicKeyBytes>(work.pk[item]);
  if constexpr (kSecret) {
    const uint64_t stored = hash.load(work.sk[item] + S::kHashOffset);
    const bool wrong = __any_sync(0xffffffff, hash.lane < WarpHashes::kSymWords && digest != stored);
    const uint32_t valid[1] = {S::kKyber || !wrong ? 1u : 0u};
    hash.store(expanded_key + S::ExpandedKey::kZ, hash.load(work.sk[item] + S::kZOffset));
    if (hash.lane == 0) store_words(expanded_key + S::ExpandedKey::kSecretValid, valid);
    digest = stored;
  }
  hash.store(expanded_key + S::ExpandedKey::kHash, digest);
}

}  // namespace polykem::mlkem::cuda
