// SPDX-License-Identifier: Apache-2.0
// SHAKE of 32-byte seeds followed by one or two bytes, with a seed or a position per 64-bit lane, for the matrix and
// the noise.
#pragma once

#include <algorithm>

#include "prim/keccak/lanes/keccak_lanes.hpp"
#include "prim/ntt/ntt_lanes.hpp"
#include "schemes/mlkem/params.hpp"

namespace polykem::mlkem::lanes {
inline namespace POLYKEM_ISA {

using polykem::lanes::kStateWords;
using simd::V64;
inline constexpr size_t kStates = V64::kLanes;
inline constexpr size_t kSeedWords = kSymBytes / 8;

/// Seeds side by side: word[w] holds word w of all seeds.
struct Seeds {
  V64 word[kSeedWords];

  /// Lanes >= count repeat the last seed.
  static Seeds load(ConstByteRows in, size_t count) {
    alignas(64) uint64_t words[kSeedWords][kStates];
    for (size_t l = 0; l < kStates; ++l) {
      const uint8_t* seed = in.data + std::min(l, count - 1) * in.stride;
      for (size_t w = 0; w < kSeedWords; ++w)
        std::memcpy(&words[w][l], seed + 8 * w, 8);
    }
    Seeds seeds;
    for (size_t w = 0; w < kSeedWords; ++w)
      seeds.word[w] = V64::load(words[w]);
    secure_zero(words, sizeof words);
    return seeds;
  }
};

/// SHAKE after the last message block: `tails` are the bytes after the seeds and the suffix 0x1f. [FIPS202, 6.2]
template <size_t kRate>
struct Xof {
  static constexpr size_t kRateWords = kRate / 8;
  V64 state[kStateWords];

  POLYKEM_INLINE Xof(const Seeds& seeds, V64 tails) {
    for (V64& word : state)
      word = V64::zero();
    for (size_t w = 0; w < kSeedWords; ++w)
      state[w] = seeds.word[w];
    state[kSeedWords] = tails;
    state[kRateWords - 1] = V64::set1(uint64_t{1} << 63);
  }
  ~Xof() {
    for (V64& word : state)
      word = V64::zero();
    asm volatile("" : : "r"(state) : "memory");
  }

  /// Writes the next kWords words of every lane to out + lane * stride. It writes whole vectors: up to 56 bytes more.
  template <size_t kWords = kRateWords>
  POLYKEM_INLINE void squeeze(uint8_t* out, size_t stride) {
    polykem::lanes::keccak_permute(state);
    for (size_t word = 0; word < kWords; word += kStates) {
      V64 v[kStates];
      for (size_t j = 0; j < kStates; ++j)
        v[j] = state[word + j < kStateWords ? word + j : 0];
      transpose_words(v);
      for (size_t l = 0; l < kStates; ++l)
        v[l].store_unaligned(out + l * stride + word * 8);
    }
  }
};

inline constexpr size_t kShake128Rate = 168, kShake256Rate = 136;
/// A row that NttLanes::accept fills.
inline constexpr size_t kAcceptedWords = kN + 32;

/// This many blocks yield 256 coefficients with probability 0.993; if they do not, more are squeezed.
inline constexpr size_t kFirstBlocks = 3;

/// The bytes after rho in the input of SampleNTT.
constexpr uint64_t xof_tail(size_t first, size_t second) {
  return first | second << 8 | uint64_t{0x1f} << 16;
}

/// Row l = SampleNTT(seed l, the two bytes in tail l) for kStates rows of kAcceptedWords words. Public. [FIPS203, Alg
/// 7]
POLYKEM_NOINLINE inline void sample_ntt_rows(uint16_t* out, const Seeds& seeds, V64 tails, const NttLanes& ntt) {
  constexpr size_t kBytes = kFirstBlocks * kShake128Rate;
  uint8_t bytes[kStates][kBytes + 64];
  Xof<kShake128Rate> xof(seeds, tails);
  for (size_t block = 0; block < kFirstBlocks; ++block)
    xof.squeeze(bytes[0] + block * kShake128Rate, sizeof bytes[0]);
  size_t filled[kStates], fewest = kN;
  for (size_t l = 0; l < kStates; ++l) {
    filled[l] = ntt.accept(out + l * kAcceptedWords, 0, bytes[l], kBytes);
    fewest = std::min(fewest, filled[l]);
  }
  while (fewest < kN) {
    xof.squeeze(bytes[0], sizeof bytes[0]);
    fewest = kN;
    for (size_t l = 0; l < kStates; ++l) {
      filled[l] = ntt.accept(out + l * kAcceptedWords, filled[l], bytes[l], kShake128Rate);
      fewest = std::min(fewest, filled[l]);
    }
  }
}

/// The byte after the seed in the input of the PRF.
constexpr uint64_t prf_tail(size_t nonce) {
  return nonce | uint64_t{0x1f} << 8;
}

/// Row l = the first 64 kEta bytes of SHAKE256(seed l, the byte in tail l); writes up to 64 bytes more. [FIPS203, 4.1]
template <unsigned kEta>
POLYKEM_NOINLINE void prf_rows(uint8_t* out, size_t stride, const Seeds& seeds, V64 tails) {
  Xof<kShake256Rate> xof(seeds, tails);
  if constexpr (kEta == 2) {
    xof.template squeeze<16>(out, stride);
  } else {
    xof.squeeze(out, stride);
    xof.template squeeze<192 / 8 - kShake256Rate / 8>(out + kShake256Rate, stride);
  }
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::mlkem::lanes
