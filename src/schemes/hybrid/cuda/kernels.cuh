// SPDX-License-Identifier: Apache-2.0
// The kernels of a hybrid besides those of ML-KEM and X25519. They make seeds and coins, take records apart and join
// them, and derive the shared secret.
#pragma once

#include "core/status.hpp"
#include "prim/cuda/warp.cuh"
#include "prim/drbg/cuda/drbg.cuh"
#include "prim/keccak/cuda/keccak.cuh"
#include "prim/records/cuda/items.cuh"
#include "schemes/hybrid/cuda/sets.hpp"

namespace polykem::hybrid::cuda {

using polykem::cuda::CoinDomain;
using polykem::cuda::KeccakSuffix;
using polykem::cuda::kRateBytes;
using polykem::cuda::LaneItem;
using polykem::cuda::load_words;
using polykem::cuda::Records;
using polykem::cuda::store_words;

/// The parts of the items' seeds, or of their coins, as rows of kKemWords words for ML-KEM and kCurveWords words for
/// scalars.
struct SeedRows {
  uint32_t *kem, *scalars;

  template <int kWords>
  __device__ __forceinline__ void store(const uint32_t (&words)[kWords], const LaneItem& own) const {
    constexpr int kKemWords = kWords - kCurveWords;
    if (!own.valid()) return;
#pragma unroll
    for (int w = 0; w < kKemWords; ++w)
      kem[own.index() * kKemWords + w] = words[w];
#pragma unroll
    for (int w = 0; w < kCurveWords; ++w)
      scalars[own.index() * kCurveWords + w] = words[kKemWords + w];
  }
};

/// Computes SHAKE256 of a seed. [HYBRIDKEMS, 5.1.1]
template <int kWords>
__device__ __forceinline__ void expand_seed(uint32_t (&words)[kWords], const uint32_t (&seed)[kSymBytes / 4]) {
  uint64_t state[25];
  polykem::cuda::absorb_seed<kRateBytes>(state, seed, static_cast<uint64_t>(KeccakSuffix::kShake));
  polykem::cuda::keccak_f1600(state);
  polykem::cuda::squeeze_words(words, state);
}

/// Computes randombytes and expand_seed of key generation. For HPKE, whose secret keys are seeds, it also writes
/// sk_out.
template <class S>
__global__ void __launch_bounds__(32)
    keygen_coin_kernel(SeedRows rows, uint8_t* sk_out, const uint8_t* coins, const uint32_t* coin_seed, size_t count) {
  const LaneItem own(count);
  uint32_t words[S::kSeedWords];
  if constexpr (S::kHpke) {
    uint32_t seed[kSymBytes / 4];
    polykem::cuda::make_coin_words(seed, coins, coin_seed, CoinDomain::kKeygen, own.index());
    expand_seed(words, seed);
    if (own.valid()) store_words(sk_out + own.index() * kSymBytes, seed);
  } else {
    polykem::cuda::make_coin_words(words, coins, coin_seed, CoinDomain::kKeygen, own.index());
  }
  rows.store(words, own);
}

/// Computes expand_seed of decapsulation for HPKE.
template <class S>
__global__ void __launch_bounds__(32) expand_seed_kernel(SeedRows rows, Records seeds, size_t count) {
  const LaneItem own(count);
  uint32_t seed[kSymBytes / 4], words[S::kSeedWords];
  load_words(seed, seeds[own.index()]);
  expand_seed(words, seed);
  rows.store(words, own);
}

/// Computes randombytes of encapsulation: m and the scalar.
template <class S>
__global__ void __launch_bounds__(32)
    encaps_coin_kernel(SeedRows rows, const uint8_t* coins, const uint32_t* coin_seed, size_t count) {
  const LaneItem own(count);
  uint32_t words[S::kParams.encaps_coin_bytes() / 4];
  polykem::cuda::make_coin_words(words, coins, coin_seed, CoinDomain::kEncaps, own.index());
  rows.store(words, own);
}

/// The threads and records of a block in kernels that copy records, with a warp for each record.
inline constexpr int kCopyThreads = 128, kCopyItems = kCopyThreads / 32;

/// Copies the first kBytes bytes of records to rows.
template <int kBytes>
__global__ void __launch_bounds__(kCopyThreads) take_rows_kernel(uint32_t* rows, Records from, size_t count) {
  const size_t item = blockIdx.x * size_t{kCopyItems} + threadIdx.x / 32;
  if (item >= count) return;
  const uint8_t* const record = from[item];
#pragma unroll 4
  for (int w = static_cast<int>(threadIdx.x % 32); w < kBytes / 4; w += 32)
    rows[item * (kBytes / 4) + w] = polykem::cuda::record_word(record, w, kBytes);
}

/// Makes records by joining a row of kFirst bytes and one of the curve. Records of items whose mask is zero become
/// zero, unless `masks` is nullptr.
template <int kFirst>
__global__ void __launch_bounds__(kCopyThreads)
    join_rows_kernel(uint8_t* out, const uint32_t* first, const uint32_t* second, const uint32_t* masks, size_t count) {
  constexpr int kFirstWords = kFirst / 4, kWords = kFirstWords + kCurveWords;
  const size_t item = blockIdx.x * size_t{kCopyItems} + threadIdx.x / 32;
  if (item >= count) return;
  const uint32_t mask = masks == nullptr ? 0xffffffff : masks[item];
  const uint32_t* const own_first = first + item * kFirstWords;
  const uint32_t* const own_second = second + item * kCurveWords;
  const auto word = [&](int w) {
    if (w < 0 || w >= kWords) return 0u;
    return mask & (w < kFirstWords ? own_first[w] : own_second[w - kFirstWords]);
  };
  polykem::cuda::store_record(out + item * (4 * kWords), 4 * kWords, threadIdx.x % 32, [&](int offset) {
    const int w = (offset + 4) / 4 - 1;  // rounded down
    return offset % 4 == 0 ? word(w) : __funnelshift_r(word(w), word(w + 1), 8 * (offset - 4 * w));
  });
}

/// The two secrets of each item, the other inputs of their combination, and the destination of the results.
struct Secrets {
  const uint32_t *kem, *curve;  ///< rows of ML-KEM's and X25519's secrets
  const int* kem_status;
  Records ephemeral, recipient;  ///< the points of the ciphertexts and of the keys, for HPKE
  uint8_t* out;
  int* status;      ///< nullptr if not wanted
  uint32_t* masks;  ///< nullptr, or set to all ones for items that succeed and to zero for others
};

/// Derives the shared secrets. kInvalid is the status of items whose X25519 secret is zero. [HYBRIDKEMS, 5.5.1]
template <class S, Status kInvalid>
__global__ void __launch_bounds__(32) combine_kernel(Secrets secrets, size_t count) {
  const LaneItem own(count);
  const size_t item = own.index();
  uint32_t words[4 * kCurveWords] = {}, any = 0;
#pragma unroll
  for (int w = 0; w < kCurveWords; ++w) {
    words[w] = secrets.kem[item * kCurveWords + w];
    words[kCurveWords + w] = secrets.curve[item * kCurveWords + w];
    any |= words[kCurveWords + w];
  }
  const auto kem_status = static_cast<uint32_t>(secrets.kem_status[item]);
  const uint32_t kem_failed = 0u - ((kem_status | (0u - kem_status)) >> 31);
  const uint32_t curve_valid = 0u - ((any | (0u - any)) >> 31);
  const uint32_t valid = curve_valid & ~kem_failed;
  constexpr int kWords = S::kSharedSecretBytes / 4;
  uint32_t out[kWords];
  if constexpr (S::kHpke) {
    uint32_t point[kCurveWords];
    load_words(point, secrets.ephemeral[item]);
#pragma unroll
    for (int w = 0; w < kCurveWords; ++w)
      words[2 * kCurveWords + w] = point[w];
    load_words(point, secrets.recipient[item]);
#pragma unroll
    for (int w = 0; w < kCurveWords; ++w)
      words[3 * kCurveWords + w] = point[w];
    constexpr uint64_t kTail = S::hash_tail();
    uint64_t state[25];
    polykem::cuda::absorb_seed<kRateBytes>(state, words, kTail);
    polykem::cuda::keccak_f1600(state);
    polykem::cuda::squeeze_words(out, state);
  } else {
#pragma unroll
    for (int w = 0; w < kWords; ++w)
      out[w] = words[w];
  }
#pragma unroll
  for (uint32_t& word : out)
    word &= valid;
  if (!own.valid()) return;
  store_words(secrets.out + item * (4 * kWords), out);
  if (secrets.masks != nullptr) secrets.masks[item] = valid;
  if (secrets.status != nullptr)
    secrets.status[item] =
        static_cast<int>(kem_status | (~kem_failed & ~curve_valid & static_cast<uint32_t>(kInvalid)));
}

}  // namespace polykem::hybrid::cuda
