// SPDX-License-Identifier: Apache-2.0
// The hashes of items and attempts, with a thread for each. A block is one warp; records go through shared memory.
// [FIPS204, 6]
#pragma once

#include "prim/drbg/cuda/drbg.cuh"
#include "prim/keccak/cuda/shake.cuh"
#include "schemes/mldsa/cuda/sample.cuh"

namespace polykem::mldsa::cuda {

using polykem::cuda::CoinDomain;
using polykem::cuda::kRateBytes;
using polykem::cuda::kRateWords;
using polykem::cuda::kScratchStride;
using polykem::cuda::kShake256Words;
using polykem::cuda::LaneItem;
using polykem::cuda::squeeze_words;

/// The shared memory of a warp that hashes.
struct HashMemory {
  uint32_t scratch[polykem::cuda::kShakeScratchWords<kShake256Words>];
  uint32_t challenge_polys[32][kChallengePolyWords + 1];
};
static_assert(polykem::cuda::kShakeStride<kShake256Words> == kScratchStride);

/// The part after tr of the string whose hash is mu.
class MessageString {
 public:
  __device__ __forceinline__ MessageString(const DeviceMessages& messages, size_t item)
      : context_(messages.contexts.data == nullptr ? nullptr : messages.contexts.at(item)),
        message_(messages.strings.at(item)),
        context_bytes_(static_cast<uint32_t>(messages.contexts.bytes(item))),
        oid_bytes_(messages.oid_bytes),
        digest_(messages.is_digest),
        message_bytes_(messages.strings.bytes(item)),
        oid_(messages.oid) {}

  __device__ __forceinline__ uint64_t bytes() const { return head() + message_bytes_; }

  /// Returns bytes `at` to `at` + 3. After the string come the bytes of its padding, except for the last bit.
  __device__ __forceinline__ uint32_t word(uint64_t at) const {
    if (at >= head() && at + 4 <= bytes()) {
      uint32_t word[1];
      load_words(word, message_ + (at - head()));
      return word[0];
    }
    uint32_t word = 0;
#pragma unroll 1
    for (unsigned b = 0; b < 4; ++b)
      word |= byte(at + b) << (8 * b);
    return word;
  }

 private:
  __device__ __forceinline__ uint32_t head() const {
    return 2 + context_bytes_ + oid_bytes_;
  }
  __device__ __forceinline__ uint32_t byte(uint64_t at) const {
    if (at == 0) return digest_;
    if (at == 1) return context_bytes_;
    if (at < 2 + context_bytes_) return context_[at - 2];
    if (at < head())
      return static_cast<uint8_t>(oid_[(at - 2 - context_bytes_) / 8] >> ((at - 2 - context_bytes_) % 8 * 8));
    if (at < bytes()) return message_[at - head()];
    return at == bytes() ? 0x1f : 0;
  }

  const uint8_t *context_, *message_;
  uint32_t context_bytes_, oid_bytes_, digest_;
  uint64_t message_bytes_;
  const uint64_t* oid_;
};

/// Computes mu of an item from its key's tr. `row` has kScratchStride words of shared memory, for this thread.
/// [FIPS204, Alg 7, L6]
__device__ __forceinline__ void hash_message(uint32_t (&mu)[kDigestWords], const uint32_t (&tr)[kDigestWords],
                                             const DeviceMessages& messages, size_t item, uint32_t* row) {
  if (messages.is_mu) return load_words(mu, messages.strings.at(item));
  const MessageString string(messages, item);
  const uint64_t last = (kDigestBytes + string.bytes()) / kRateBytes;
  uint64_t state[25] = {};
#pragma unroll
  for (int j = 0; j < kDigestWords / 2; ++j)
    state[j] = tr[2 * j] | uint64_t{tr[2 * j + 1]} << 32;
#pragma unroll 1
  for (uint64_t block = 0; block <= last; ++block) {
#pragma unroll 1
    for (int w = 0; w < kRateWords; ++w) {
      const uint64_t at = block * kRateBytes + 4 * w;
      row[w] = at < kDigestBytes ? 0 : string.word(at - kDigestBytes);
    }
#pragma unroll
    for (int j = 0; j < kRateWords / 2; ++j)
      state[j] ^= row[2 * j] | uint64_t{row[2 * j + 1]} << 32;
    if (block == last) state[kRateWords / 2 - 1] ^= polykem::cuda::kShakeLastBit;
    keccak_f1600(state);
  }
  squeeze_words(mu, state);
}

/// Samples c, which has tau coefficients of 1 or -1, from c~. All lanes of the warp call it. [FIPS204, Alg 29]
template <class Set>
__device__ __forceinline__ void sample_in_ball(HashMemory& memory,
                                               const uint32_t (&challenge)[Shape<Set>::kChallengeWords], uint32_t* out,
                                               bool stored) {
  using S = Shape<Set>;
  const unsigned lane = warp_lane();
  uint32_t* const row = memory.scratch + lane * kScratchStride;
  uint32_t* const poly = memory.challenge_polys[lane];
  uint64_t state[25];
  polykem::cuda::absorb_words<kShake256Words, S::kChallengeWords / 2 + 1>(state, [&](int j) {
    return j == S::kChallengeWords / 2 ? polykem::cuda::kShakeSuffix
                                       : challenge[2 * j] | uint64_t{challenge[2 * j + 1]} << 32;
  });
#pragma unroll
  for (int w = 0; w < kChallengePolyWords; ++w)
    poly[w] = 0;
  uint64_t signs = 0;
  unsigned i = kN - S::kTau, next = 8;
  do {
    keccak_f1600(state);
#pragma unroll
    for (int w = 0; w < kRateWords; ++w)
      row[w] = static_cast<uint32_t>(state[w / 2] >> (32 * (w % 2)));
    if (i == kN - S::kTau && next == 8) signs = state[0];
#pragma unroll 1
    for (; i < kN && next < kRateBytes; ++next) {
      const unsigned j = row[next / 4] >> (next % 4 * 8) & 255;
      if (j > i) continue;
      const uint32_t moved = poly[j / 16] >> (j % 16 * 2) & 3;
      poly[i / 16] |= moved << (i % 16 * 2);
      poly[j / 16] = (poly[j / 16] & ~(3u << (j % 16 * 2))) | (1 + static_cast<uint32_t>(signs & 1)) << (j % 16 * 2);
      signs >>= 1;
      ++i;
    }
    next = i < kN ? 0 : next;
  } while (__any_sync(0xffffffff, i < kN));
  if (!stored) return;
#pragma unroll
  for (int w = 0; w < kChallengePolyWords; w += 4)
    *reinterpret_cast<uint4*>(out + w) = make_uint4(poly[w], poly[w + 1], poly[w + 2], poly[w + 3]);
}

/// Computes c~ of attempt, or item, number `first` + lane. [FIPS204, Alg 7, L15]
template <class Set>
__device__ __forceinline__ void hash_challenge(uint32_t (&challenge)[Shape<Set>::kChallengeWords], HashMemory& memory,
                                               const Work& work, size_t first, uint32_t valid) {
  using S = Shape<Set>;
  uint64_t state[25];
  polykem::cuda::warp_absorb<kShake256Words>(
      state, memory.scratch, warp_lane(),
      {work.mu_w1 + first * S::kMuW1Bytes, static_cast<uint32_t>(S::kMuW1Bytes), valid, S::kMuW1Bytes / 8}, 0,
      [](uint32_t) { return uint64_t{0}; });
  squeeze_words(challenge, state);
}

/// Computes c~ and c of `valid` attempts from number `first` on.
template <class Set>
__device__ __forceinline__ void challenge_attempts(HashMemory& memory, const Work& work, size_t first, uint32_t valid) {
  uint32_t challenge[Shape<Set>::kChallengeWords];
  hash_challenge<Set>(challenge, memory, work, first, valid);
  const size_t attempt = first + warp_lane();
  const bool stored = warp_lane() < valid;
  if (stored)
    polykem::cuda::store_words(reinterpret_cast<uint8_t*>(work.challenge + attempt * kDigestWords), challenge);
  sample_in_ball<Set>(memory, challenge, work.challenge_poly + attempt * kChallengePolyWords, stored);
}

template <class Set>
__global__ void __launch_bounds__(32, 16) challenge_kernel(Work work, uint32_t round) {
  __shared__ HashMemory memory;
  const uint32_t first = blockIdx.x * 32u, count = work.unsigned_counts[round];
  if (first < count) challenge_attempts<Set>(memory, work, first, min(count - first, 32u));
}

// ---- keygen

/// Makes xi, and from it rho, rho' and K, which it stores. [FIPS204, Alg 1, L1; Alg 6, L1]
template <class Set>
__global__ void __launch_bounds__(32, 16) make_seeds_kernel(Work work) {
  using S = Shape<Set>;
  const LaneItem own(work.count);
  uint32_t xi[kSeedWords], seeds[2 * kSeedWords + kDigestWords];
  polykem::cuda::make_coin_words(xi, work.coins, work.coin_seed, CoinDomain::kKeygen, own.index());
  uint64_t state[25];
  polykem::cuda::absorb_seed<kRateBytes>(state, xi, S::kK | S::kL << 8 | 0x1f0000);
  keccak_f1600(state);
  squeeze_words(seeds, state);
  if (!own.valid()) return;
#pragma unroll
  for (int w = 0; w < kSeedWords; ++w) {
    work.rho.at(w, own.index()) = seeds[w];
    work.k.at(w, own.index()) = seeds[kSeedWords + kDigestWords + w];
  }
#pragma unroll
  for (int w = 0; w < kDigestWords; ++w)
    work.secret_seed.at(w, own.index()) = seeds[kSeedWords + w];
}

/// Computes tr = H(pk, 64) of the lanes' keys.
template <class Set>
__device__ __forceinline__ void hash_pk(uint32_t (&tr)[kDigestWords], HashMemory& memory, Records pk,
                                        const LaneItem& own) {
  uint64_t state[25];
  polykem::cuda::warp_absorb<kShake256Words>(
      state, memory.scratch, own.lane, {pk[own.first], pk.stride, own.valid_lanes(), Shape<Set>::kPublicKeyBytes / 8},
      0, [](uint32_t) { return uint64_t{0}; });
  squeeze_words(tr, state);
}

/// Writes tr of new keys into sk. [FIPS204, Alg 6, L9]
template <class Set>
__global__ void __launch_bounds__(32, 16) hash_new_pk_kernel(Work work) {
  using S = Shape<Set>;
  __shared__ HashMemory memory;
  const LaneItem own(work.count);
  uint32_t tr[kDigestWords];
  hash_pk<Set>(tr, memory, {work.pk_out, S::kPublicKeyBytes}, own);
  if (own.valid()) polykem::cuda::store_words(work.sk_out + own.index() * S::kSecretKeyBytes + S::kTrOffset, tr);
}

// ---- sign

/// Computes mu and rho'', and makes the list of items without a signature. `rounds` rounds follow.
/// [FIPS204, Alg 7, L6-7]
template <class Set>
__global__ void __launch_bounds__(32, 16) prepare_sign_kernel(const __grid_constant__ Work work, uint32_t rounds) {
  using S = Shape<Set>;
  __shared__ uint32_t rows[32][kScratchStride];
  const LaneItem own(work.count);
  const size_t item = own.index();
  const uint8_t* const sk = work.sk[item];
  uint32_t tr[kDigestWords], mu[kDigestWords];
  load_words(tr, sk + S::kTrOffset);
  hash_message(mu, tr, work.messages, item, rows[own.lane]);
  uint32_t k[kSeedWords], rnd[kSeedWords] = {};
  load_words(k, sk + S::kKOffset);
  if (!work.messages.deterministic)
    polykem::cuda::make_coin_words(rnd, work.coins, work.coin_seed, CoinDomain::kSign, item);
  uint64_t state[25] = {};
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    state[j] = k[2 * j] | uint64_t{k[2 * j + 1]} << 32;
    state[4 + j] = rnd[2 * j] | uint64_t{rnd[2 * j + 1]} << 32;
  }
#pragma unroll
  for (int j = 0; j < 8; ++j)
    state[8 + j] = mu[2 * j] | uint64_t{mu[2 * j + 1]} << 32;
  state[16] = polykem::cuda::kShakeSuffix ^ polykem::cuda::kShakeLastBit;
  keccak_f1600(state);
  uint32_t mask_seed[kDigestWords];
  squeeze_words(mask_seed, state);
  if (blockIdx.x == 0)
    for (uint32_t round = own.lane; round <= rounds; round += 32)
      work.unsigned_counts[round] = round == 0 ? static_cast<uint32_t>(work.count) : 0;
  if (!own.valid()) return;
  work.mu.store(mu, item);
  work.mask_seed.store(mask_seed, item);
  work.unsigned_items[0][item] = static_cast<uint32_t>(item);
}

// ---- verify

/// Computes mu and c. [FIPS204, Alg 8, L6-9]
template <class Set>
__global__ void __launch_bounds__(32, 16) prepare_verify_kernel(const __grid_constant__ Work work) {
  using S = Shape<Set>;
  __shared__ HashMemory memory;
  const LaneItem own(work.count);
  const size_t item = own.index();
  uint32_t tr[kDigestWords], mu[kDigestWords], challenge[S::kChallengeWords];
  hash_pk<Set>(tr, memory, work.pk, own);
  hash_message(mu, tr, work.messages, item, memory.scratch + own.lane * kScratchStride);
  if (own.valid()) work.mu.store(mu, item);
  load_words(challenge, work.signature[item]);
  __syncwarp();
  sample_in_ball<Set>(memory, challenge, work.challenge_poly + item * kChallengePolyWords, own.valid());
}

/// Compares c~ with that of the signature, and sets the status of items whose signature is not valid.
/// [FIPS204, Alg 8, L12-13]
template <class Set>
__global__ void __launch_bounds__(32, 16) compare_kernel(Work work) {
  using S = Shape<Set>;
  __shared__ HashMemory memory;
  const LaneItem own(work.count);
  uint32_t computed[S::kChallengeWords], given[S::kChallengeWords];
  hash_challenge<Set>(computed, memory, work, own.first, own.valid_lanes());
  load_words(given, work.signature[own.index()]);
  uint32_t different = work.valid[own.index()] ^ 1;
#pragma unroll
  for (int w = 0; w < S::kChallengeWords; ++w)
    different |= computed[w] ^ given[w];
  if (own.valid() && different != 0 && work.status != nullptr)
    work.status[own.index()] = static_cast<int>(Status::kSignature);
}

}  // namespace polykem::mldsa::cuda
