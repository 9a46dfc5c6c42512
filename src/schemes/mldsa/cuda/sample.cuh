// SPDX-License-Identifier: Apache-2.0
// Samples A, s1, s2 and y. A thread has one Keccak state, and a warp writes what its threads have made. A block is one
// warp. [FIPS204, 7.3]
#pragma once

#include "prim/keccak/cuda/keccak.cuh"
#include "schemes/mldsa/cuda/work.cuh"

namespace polykem::mldsa::cuda {

using polykem::cuda::keccak_f1600;
using polykem::cuda::SeedArray;

inline constexpr int kCandidates = polykem::cuda::kShake128RateBytes / 3;  ///< candidates in one block, for A
inline constexpr unsigned kHalf = kN / 2;                                  ///< coefficients that are stored at a time
/// The number of words in a lane's row in shared memory. It is odd, so that rows begin in different banks.
inline constexpr int kCandidateStride = kHalf + kCandidates + 1;

/// Returns 23 bits of the state, from bit 24 n on.
__device__ __forceinline__ uint32_t candidate(const uint64_t (&state)[25], int n) {
  const int word = 24 * n / 32, bit = 24 * n % 32;
  const auto half = [&](int w) { return static_cast<uint32_t>(state[w / 2] >> (32 * (w % 2))); };
  const uint32_t x = bit <= 8 ? half(word) >> bit : __funnelshift_r(half(word), half(word + 1), bit);
  return x & 0x7fffff;
}

/// Writes a block's integers below q, one after the other, to a lane's row, and returns their number.
__device__ __forceinline__ uint32_t accept_block(uint32_t* row, const uint64_t (&state)[25]) {
  const auto begin = static_cast<uint32_t>(__cvta_generic_to_shared(row));
  uint32_t end = begin;
#pragma unroll
  for (int n = 0; n < kCandidates; ++n) {
    // This is in assembly because compilers would count coefficients and bytes separately.
    asm volatile("{.reg .pred below; st.shared.u32 [%0], %1; setp.lt.u32 below, %1, %2; @below add.u32 %0, %0, 4;}"
                 : "+r"(end)
                 : "r"(candidate(state, n)), "n"(kModulus)
                 : "memory");
  }
  return (end - begin) / 4;
}

/// Samples the entries of A^ of all keys from their rho. [FIPS204, Alg 30, Alg 32]
template <class Set>
__global__ void __launch_bounds__(32, 9) expand_a_kernel(uint32_t* a, SeedArray rho, uint32_t entries) {
  using S = Shape<Set>;
  __shared__ uint32_t rows[32][kCandidateStride];
  const unsigned lane = warp_lane();
  const uint32_t first = blockIdx.x * 32u, mine = min(first + lane, entries - 1), stored = min(entries - first, 32u);
  const uint32_t entry = mine % S::kEntries;
  uint32_t seed[kSeedWords];
  rho.load(seed, mine / S::kEntries);
  uint64_t state[25];
  polykem::cuda::absorb_seed<polykem::cuda::kShake128RateBytes>(state, seed,
                                                                entry % S::kL | entry / S::kL << 8 | 0x1f0000);
  uint32_t* const row = rows[lane];
  uint32_t filled = 0;
#pragma unroll 1
  for (unsigned half = 0; half < 2; ++half) {
    while (filled < kHalf) {
      keccak_f1600(state);
      filled += accept_block(row + filled, state);
    }
    __syncwarp();
    uint32_t* const out = a + size_t{first} * kN + row_index(half * kHalf + lane);
#pragma unroll 4
    for (unsigned n = 0; n < stored; ++n) {
#pragma unroll
      for (unsigned c = 0; c < kHalf / 32; ++c)
        out[n * kN + row_index(32 * c)] = rows[n][32 * c + lane];
    }
    __syncwarp();
    for (unsigned i = kHalf; half == 0 && i < filled; ++i)
      row[i - kHalf] = row[i];
    filled -= kHalf;
  }
}

/// The number of words in a lane's row of small coefficients. A block may end up to 7 bytes beyond the polynomial.
inline constexpr int kSmallStride = static_cast<int>(kN) / 4 + 3;

/// Appends eta less a coefficient for each of eight half bytes that is small enough, at the shared address `end`.
/// [FIPS204, Alg 15]
template <int kEta>
__device__ __forceinline__ void accept_halves(uint32_t& end, uint32_t word) {
#pragma unroll
  for (int n = 0; n < 8; ++n) {
    const uint32_t half = word >> (4 * n) & 15, value = kEta == 2 ? half - 5 * (half * 205 >> 10) : half;
    asm volatile(
        "{.reg .pred below; .reg .b16 low; cvt.u16.u32 low, %1; st.shared.u8 [%0], low;"
        "setp.lt.u32 below, %2, %3; @below add.u32 %0, %0, 1;}"
        : "+r"(end)
        : "r"(value), "r"(half), "n"(kEta == 2 ? 15 : 9)
        : "memory");
  }
}

/// Samples s1 and s2 of all items. How many half bytes are rejected is public, since it says nothing about the others.
/// [FIPS204, Alg 31, Alg 33]
template <class Set>
__global__ void __launch_bounds__(32, 16) expand_s_kernel(Work work) {
  using S = Shape<Set>;
  constexpr uint32_t kPolys = S::kK + S::kL;
  __shared__ uint32_t rows[32][kSmallStride];
  const unsigned lane = warp_lane();
  const auto polys = static_cast<uint32_t>(work.count * kPolys);
  const uint32_t first = blockIdx.x * 32u, mine = min(first + lane, polys - 1), stored = min(polys - first, 32u);
  uint32_t seed[kDigestWords];
  work.secret_seed.load(seed, mine / kPolys);
  uint64_t state[25];
  polykem::cuda::absorb_seed<polykem::cuda::kRateBytes>(state, seed, mine % kPolys | 0x1f0000);
  auto end = static_cast<uint32_t>(__cvta_generic_to_shared(rows[lane]));
  const uint32_t full = end + static_cast<uint32_t>(kN);
  do {
    keccak_f1600(state);
#pragma unroll
    for (int w = 0; w < polykem::cuda::kRateWords; ++w) {
      end = min(end, full);
      accept_halves<S::kEta>(end, static_cast<uint32_t>(state[w / 2] >> (32 * (w % 2))));
    }
  } while (__any_sync(0xffffffff, end < full));
  __syncwarp();
  auto* const out = reinterpret_cast<uint32_t*>(work.s + size_t{first} * kN);
#pragma unroll 4
  for (unsigned n = 0; n < stored; ++n) {
    out[n * (kN / 4) + lane] = rows[n][lane];
    out[n * (kN / 4) + 32 + lane] = rows[n][32 + lane];
  }
}

/// An attempt of an item: its polynomials of y have the nonces from kappa on.
struct Attempt {
  uint32_t item, kappa;
};

inline constexpr int kMaskScratchWords = 32 * polykem::cuda::kScratchStride;

/// Expands up to 32 polynomials of y, packed, from first_poly to end_poly - 1, with one warp. Polynomial n belongs to
/// attempt n / l of the round, which is attempt_of(n / l). `scratch` has kMaskScratchWords words of shared memory.
/// [FIPS204, Alg 34]
template <class Set, class AttemptOf>
__device__ __forceinline__ void expand_mask(uint32_t* scratch, const Work& work, uint32_t first_poly, uint32_t end_poly,
                                            AttemptOf attempt_of) {
  using S = Shape<Set>;
  constexpr int kWords = polykem::cuda::kRateWords, kBlocks = (S::kMaskWords + kWords - 1) / kWords;
  const unsigned lane = warp_lane();
  const uint32_t mine = min(first_poly + lane, end_poly - 1), stored = min(end_poly - first_poly, 32u);
  const Attempt own = attempt_of(mine / S::kL);
  uint32_t seed[kDigestWords];
  work.mask_seed.load(seed, own.item);
  uint64_t state[25];
  polykem::cuda::absorb_seed<polykem::cuda::kRateBytes>(state, seed, (own.kappa + mine % S::kL) | 0x1f0000);
  uint32_t* const out = work.y + size_t{first_poly} * S::kMaskWords;
#pragma unroll 1
  for (int block = 0; block < kBlocks; ++block) {
    keccak_f1600(state);
#pragma unroll
    for (int w = 0; w < kWords; ++w)
      scratch[lane * polykem::cuda::kScratchStride + w] = static_cast<uint32_t>(state[w / 2] >> (32 * (w % 2)));
    __syncwarp();
    const unsigned at = block * kWords + lane;
#pragma unroll 8
    for (unsigned n = 0; n < stored; ++n)
      if (at < S::kMaskWords) out[n * S::kMaskWords + at] = scratch[n * polykem::cuda::kScratchStride + lane];
    // Stores the last two words, of 16 rows at a time.
    const unsigned last = block * kWords + 32 + lane % 2;
#pragma unroll
    for (unsigned n = lane / 2; n < 32; n += 16)
      if (last < S::kMaskWords && n < stored)
        out[n * S::kMaskWords + last] = scratch[n * polykem::cuda::kScratchStride + 32 + lane % 2];
    __syncwarp();
  }
}

/// Expands y for the attempts of a round.
template <class Set>
__global__ void __launch_bounds__(32, 16) expand_mask_kernel(Work work, uint32_t round) {
  __shared__ uint32_t scratch[kMaskScratchWords];
  const uint32_t* const items = work.unsigned_items[round % 2];
  const uint32_t first = blockIdx.x * 32u, end = work.unsigned_counts[round] * Shape<Set>::kL;
  if (first >= end) return;
  expand_mask<Set>(scratch, work, first, end, [&](uint32_t attempt) {
    return Attempt{items[attempt], round * Shape<Set>::kL};
  });
}

}  // namespace polykem::mldsa::cuda
