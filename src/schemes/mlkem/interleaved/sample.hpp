// SPDX-License-Identifier: Apache-2.0
// SHAKE of 32-byte seeds, each followed by one or two bytes, for the matrix and the noise. Each 64-bit lane has a seed
// or a position of its own.
#pragma once

#include <algorithm>

#include "core/round.hpp"
#include "core/secure.hpp"
#include "prim/keccak/lanes/single.hpp"
#include "prim/ntt/lanes/products.hpp"
#include "schemes/mlkem/params.hpp"

namespace polykem::mlkem::interleaved {
inline namespace POLYKEM_ISA {

using polykem::keccak::kStateWords, polykem::keccak::WordState;
using simd::V64;
inline constexpr size_t kStates = V64::kLanes;
inline constexpr size_t kSeedWords = kSymBytes / 8;

/// Seeds side by side, one in each lane: word[w] holds word w of all seeds.
struct Seeds {
  V64 word[kSeedWords];

  /// Loads `count` seeds. Lanes from `count` on repeat the last seed.
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
    zeroize(words, sizeof words);
    return seeds;
  }
};

/// Returns a copy of state `lane` of kStates states that lie side by side.
inline WordState single_state(const void* states, size_t lane) {
  uint64_t words[kStateWords];
  for (size_t w = 0; w < kStateWords; ++w)
    std::memcpy(&words[w], static_cast<const uint8_t*>(states) + (w * kStates + lane) * 8, 8);
  WordState state;
  state.template absorb<kStateWords>(reinterpret_cast<const uint8_t*>(words));
  return state;
}

/// Writes the padded messages that begin with the seeds, except for the word after the seeds, into states that are 0.
/// [FIPS202, 6.2]
template <size_t kRate>
void set_messages(uint64_t (*words)[kStates], const Seeds& seeds) {
  for (size_t w = 0; w < kSeedWords; ++w)
    seeds.word[w].store(words[w]);
  V64::set1(uint64_t{1} << 63).store(words[kRate / 8 - 1]);
}

/// SHAKE of kStates short messages at a time; it may be started any number of times. If kSecret, the destructor
/// zeroizes the states.
template <size_t kRate, bool kSecret>
class Xof {
 public:
  /// Absorbs the only message block of each lane: a seed, and from `tails` the bytes that follow it and the suffix
  /// 0x1f. Output that waited to be squeezed is discarded. [FIPS202, 6.2]
  POLYKEM_INLINE void start(const Seeds& seeds, V64 tails) {
    states_.discard_pending();
    V64* state = states_.state();
    for (size_t w = 0; w < kSeedWords; ++w)
      state[w] = seeds.word[w];
    state[kSeedWords] = tails;
#pragma GCC unroll 32
    for (size_t w = kSeedWords + 1; w < kStateWords; ++w)
      state[w] = w == kRate / 8 - 1 ? V64::set1(uint64_t{1} << 63) : V64::zero();
  }

  /// Writes the next kBytes bytes of every lane to out + lane * stride. What is left of the last block is discarded.
  template <size_t kBytes>
  POLYKEM_INLINE void squeeze(uint8_t* out, size_t stride) {
    const auto row = [&](size_t l) __attribute__((always_inline)) {
      return out + l * stride;
    };
    for (size_t at = 0; at < kBytes; at += kRate) {
      states_.permute_inline();
      states_.squeeze_block(row, at, std::min(kRate, kBytes - at) / 8);
    }
  }

  /// Returns a copy of the state of one lane.
  WordState one(size_t lane) {
    return single_state(states_.state(), lane);
  }

 private:
  polykem::keccak::LaneStates<kRate, kSecret> states_;
};

inline constexpr size_t kShake128Rate = 168, kShake256Rate = 136;
/// The number of words in a row that ntt::accept fills.
inline constexpr size_t kAcceptedWords = kN + 32;

/// The number of blocks that are squeezed at first. They yield 256 coefficients with probability 0.993.
inline constexpr size_t kFirstBlocks = 3;

/// Returns the bytes that follow rho in the input of SampleNTT, and the suffix 0x1f.
constexpr uint64_t xof_tail(size_t first, size_t second) {
  return first | second << 8 | uint64_t{0x1f} << 16;
}

/// Completes a row that has `filled` words, from the next blocks of its state. One row in 140 needs this.
POLYKEM_NOINLINE inline void accept_more(uint16_t* row, size_t filled, WordState state) {
  alignas(64) uint8_t block[rounded_up(kShake128Rate + 64, 64)];
  while (filled < kN) {
    state.permute();
    state.template squeeze<kShake128Rate / 8>(block);
    filled = polykem::ntt::accept(row, filled, block, kShake128Rate);
  }
}

/// Computes row l = SampleNTT(seed l, the two bytes in tail l) for kStates rows, which begin `stride` words apart;
/// kAcceptedWords words of each may be written. Seeds and rows are public. [FIPS203, Alg 7]
POLYKEM_NOINLINE inline void sample_ntt_rows(uint16_t* out, size_t stride, const Seeds& seeds, V64 tails) {
  constexpr size_t kBytes = kFirstBlocks * kShake128Rate;
  alignas(64) uint8_t bytes[kStates][rounded_up(kBytes + 64, 64)];  // rows in whole cache lines
  Xof<kShake128Rate, false> xof;
  xof.start(seeds, tails);
  xof.squeeze<kBytes>(bytes[0], sizeof bytes[0]);
  for (size_t l = 0; l < kStates; ++l) {
    uint16_t* const row = out + l * stride;
    const size_t filled = polykem::ntt::accept(row, 0, bytes[l], kBytes);
    if (filled < kN) accept_more(row, filled, xof.one(l));
  }
}

/// Returns the byte that follows the seed in the input of the PRF, and the suffix 0x1f.
constexpr uint64_t prf_tail(size_t nonce) {
  return nonce | uint64_t{0x1f} << 8;
}

using Prf = Xof<kShake256Rate, true>;

/// Computes row l = the first 64 kEta bytes of SHAKE256(seed l, the byte in tail l). [FIPS203, 4.1]
template <unsigned kEta>
POLYKEM_NOINLINE void prf_rows(Prf& prf, uint8_t* out, size_t stride, const Seeds& seeds, V64 tails) {
  prf.start(seeds, tails);
  prf.squeeze<64 * kEta>(out, stride);
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::mlkem::interleaved
