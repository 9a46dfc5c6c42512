// SPDX-License-Identifier: Apache-2.0
// SampleNTT of eight seeds, polynomial after polynomial. While the states are permuted, the preceding block is
// unpacked, so that nothing waits for its transposition. Seeds and polynomials are public. [FIPS203, Alg 7]
#pragma once

#include "core/round.hpp"
#include "prim/keccak/avx512/overlapped.hpp"
#include "schemes/mlkem/interleaved/sample.hpp"

namespace polykem::mlkem::x8 {
inline namespace POLYKEM_ISA {

using interleaved::kStates, interleaved::Seeds, simd::V64;

/// Samples polynomials. For each one, call begin(), accept() for the preceding one, and finish(); after the last one,
/// call end() and accept().
class MatrixSampler {
 public:
  /// The number of 12-bit integers in the first blocks. Few polynomials need more.
  static constexpr size_t kCandidates = interleaved::kFirstBlocks * interleaved::kShake128Rate / 3 * 2;
  /// The number of words that accept() may write.
  static constexpr size_t kWrittenWords = rounded_up(kCandidates, 32);

  explicit MatrixSampler(const Seeds& seeds) {
    message_.clear();
    interleaved::set_messages<interleaved::kShake128Rate>(message_.words, seeds);
  }

  /// Computes the first block of the seeds followed by `tails`, and unpacks the last block of the preceding polynomial.
  void begin(V64 tails) {
    tails.store(message_.words[interleaved::kSeedWords]);
    continued_ = last_;
    if (begun_) return permute(message_.words[0], interleaved::kFirstBlocks - 1);
    polykem::keccak::copy_states(states_[last_].words, message_.words);
    polykem::keccak::keccak_permute8(states_[last_].words[0], polykem::keccak::kIota.at);
    begun_ = true;
  }
  /// Computes the other blocks, and unpacks all but the last.
  void finish() {
    for (size_t block = 0; block + 1 < interleaved::kFirstBlocks; ++block)
      permute(last(), block);
  }
  /// Unpacks the last block of the last polynomial.
  void end() {
    polykem::keccak::unpack12<kRowBytes>(last(), row(interleaved::kFirstBlocks - 1));
    continued_ = last_;
  }

  /// Writes the polynomial of seed l to `out`, where kWrittenWords words may be written.
  POLYKEM_INLINE void accept(uint16_t* out, size_t l) const {
    const size_t filled = ntt::accept_unpacked<kCandidates>(out, candidates_[l]);
    if (filled < kN) interleaved::accept_more(out, filled, interleaved::single_state(states_[continued_].words, l));
  }

 private:
  static constexpr size_t kBlockCandidates = kCandidates / interleaved::kFirstBlocks;
  static constexpr size_t kRowBytes = kWrittenWords * 2;
  using States = polykem::keccak::EightStates<false>;

  uint8_t* row(size_t block) { return reinterpret_cast<uint8_t*>(candidates_[0] + block * kBlockCandidates); }
  const uint64_t* last() const { return states_[last_].words[0]; }

  /// Permutes `from`, and meanwhile unpacks the last states as block `block` of a polynomial.
  void permute(const uint64_t* from, size_t block) {
    uint64_t* const to = states_[last_ ^ 1].words[0];
    polykem::keccak::keccak_permute8_unpack12<kRowBytes>(to, from, polykem::keccak::kIota.at, last(), row(block));
    last_ ^= 1;
  }

  States message_, states_[2];
  alignas(64) uint16_t candidates_[kStates][kWrittenWords];
  size_t last_ = 0;       ///< the index of the states that were permuted last
  size_t continued_ = 0;  ///< the index of the states whose next blocks continue the candidates
  bool begun_ = false;
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::mlkem::x8
