// SPDX-License-Identifier: Apache-2.0
// The kernels of hash.cu for batches too small to fill the GPU with a thread for each item. Each warp computes one
// item, in blocks of one warp. The parameters are those of hash.cu.
#pragma once

#include "prim/keccak/cuda/keccak_warp.cuh"
#include "prim/keccak/cuda/shake.cuh"
#include "schemes/frodo/cuda/records.cuh"

namespace polykem::frodo::cuda {

using polykem::cuda::kShakeSuffix;
using polykem::cuda::load_word64;
using polykem::cuda::LoadedWord;
using polykem::cuda::store_word64;
using polykem::cuda::WarpKeccak;

inline constexpr uint8_t kSeedDomainKeygen = 0x5f, kSeedDomainEncaps = 0x96;

/// Computes shake.pkh.
template <int kRate>
__global__ void __launch_bounds__(32) warp_hash_pk_kernel(Rows out, Records pk, uint32_t bytes, uint32_t secret_words) {
  const unsigned lane = threadIdx.x;
  const WarpKeccak keccak(lane);
  const uint8_t* const own = pk[blockIdx.x];
  const uint64_t state =
      keccak.absorbed<kRate>(lane, bytes / 8, kShakeSuffix, [&](uint32_t at) { return LoadedWord(own, at); });
  if (lane < secret_words) store_word64(out[blockIdx.x], lane, state);
}

/// Absorbs the domain and seedSE, squeezes r and stores the errors. seed: word j of seedSE in lane j < words.
template <int kRate, int kThresholds>
__device__ __forceinline__ void warp_squeeze_noise(const WarpKeccak& keccak, unsigned lane, uint8_t domain,
                                                   uint64_t seed, uint32_t words, uint8_t* noise, uint32_t samples,
                                                   const Thresholds& t) {
  const uint64_t own = lane < words ? seed : kShakeSuffix;
  uint64_t before = __shfl_up_sync(0xffffffff, own, 1);
  if (lane == 0) before = static_cast<uint64_t>(domain) << 56;
  uint64_t state = lane <= words ? before >> 56 | own << 8 : 0;
  if (lane == kRate - 1) state ^= polykem::cuda::kShakeLastBit;
  const uint32_t blocks = (samples + 4 * kRate - 1) / (4 * kRate);
#pragma unroll 1
  for (uint32_t block = 0; block < blocks; ++block) {
    state = keccak.permuted(state);
    if (lane < kRate) reinterpret_cast<uint32_t*>(noise)[block * kRate + lane] = sample4<kThresholds>(state, t);
  }
}

/// Computes shake.seed_a, shake.r and sample_matrix of keygen.
template <int kRate, int kThresholds>
__global__ void __launch_bounds__(32)
    warp_expand_keygen_kernel(uint8_t* pk, uint8_t* sk, Rows noise, Rows coins, Sizes sizes, Thresholds t) {
  const unsigned lane = threadIdx.x;
  const size_t item = blockIdx.x;
  const WarpKeccak keccak(lane);
  const uint64_t* const row = coins.words(item);
  const uint64_t* const z = row + sizes.secret_words + sizes.seed_words;
  const uint64_t seed_a = keccak.absorbed<kRate>(lane, 2, kShakeSuffix, [&](uint32_t at) { return z[at]; });
  uint8_t* const own = sk + item * sizes.sk_bytes;
  if (lane < 2) {
    store_word64(pk + item * sizes.pk_bytes, lane, seed_a);
    store_word64(own + sizes.pk_offset, lane, seed_a);
  }
  if (lane < sizes.secret_words) store_word64(own, lane, row[lane]);
  const uint64_t seed = lane < sizes.seed_words ? row[sizes.secret_words + lane] : 0;
  warp_squeeze_noise<kRate, kThresholds>(keccak, lane, kSeedDomainKeygen, seed, sizes.seed_words, noise[item],
                                         16 * sizes.n, t);
}

/// Computes shake.seed_se, shake.r and sample_matrix of encaps and decaps.
template <int kRate, int kThresholds>
__global__ void __launch_bounds__(32)
    warp_expand_encaps_kernel(Rows noise, Rows k, Rows pkh, Rows coins, Sizes sizes, Thresholds t) {
  const unsigned lane = threadIdx.x;
  const size_t item = blockIdx.x;
  const WarpKeccak keccak(lane);
  const uint32_t secret = sizes.secret_words;
  const uint64_t* const hash = pkh.words(item);
  const uint64_t* const row = coins.words(item);
  const uint64_t seed = keccak.absorbed<kRate>(lane, 2 * secret + sizes.salt_words, kShakeSuffix,
                                               [&](uint32_t at) { return at < secret ? hash[at] : row[at - secret]; });
  const uint32_t at = lane - sizes.seed_words;
  if (at < secret) k.words(item)[at] = seed;
  warp_squeeze_noise<kRate, kThresholds>(keccak, lane, kSeedDomainEncaps, seed, sizes.seed_words, noise[item],
                                         16 * sizes.n + kSquare, t);
}

/// Computes select and shake.ss.
template <int kRate>
__global__ void __launch_bounds__(32)
    warp_hash_ss_kernel(uint8_t* ss, Records ct, Rows k, Records sk, const uint32_t* fail, Sizes sizes) {
  const unsigned lane = threadIdx.x;
  const size_t item = blockIdx.x;
  const WarpKeccak keccak(lane);
  const uint8_t* const own = ct[item];
  const uint32_t words = sizes.ct_bytes / 8;
  const uint64_t keep = fail != nullptr && fail[item] != 0 ? 0 : ~uint64_t{0};
  const auto word = [&](uint32_t at) -> LoadedWord {
    if (at < words) return {own, at};
    const uint64_t accepted = k.words(item)[at - words];
    return fail == nullptr ? accepted : (accepted & keep) | (load_word64(sk[item], at - words) & ~keep);
  };
  const uint64_t state = keccak.absorbed<kRate>(lane, words + sizes.secret_words, kShakeSuffix, word);
  if (lane < sizes.secret_words) store_word64(ss + item * sizes.secret_bytes(), lane, state);
}

}  // namespace polykem::frodo::cuda
