// SPDX-License-Identifier: Apache-2.0
// SampleNTT of eight seeds, polynomial after polynomial. While the states are permuted, the block before is unpacked,
// so that nothing waits for it to be transposed. Seeds and polynomials are public. [FIPS203, Alg 7]
#pragma once

#include "prim/keccak/avx512/overlapped.hpp"
#include "schemes/mlkem/interleaved/sample.hpp"

namespace polykem::mlkem::x8 {
inline namespace POLYKEM_ISA {

using interleaved::kStates, interleaved::Seeds, simd::V64;

/// For each polynomial: begin(), accept() of the one before, finish(). Then end(), accept() of the last one.
class MatrixSampler {
 public:
  /// Integers of 12 bits in the first blocks. Few polynomials need more.
  static constexpr size_t kCandidates = interleaved::kFirstBlocks * interleaved::kShake128Rate / 3 * 2;
  /// What accept() may write.
  static constexpr size_t kWrittenWords = (kCandidates + 31) / 32 * 32;

  explicit MatrixSampler(const Seeds& seeds) {
    message_.clear();
    interleaved::set_messages<interleaved::kShake128Rate>(message_.words, seeds);
  }

  /// Hashes the first block of the seeds with `tails`.
  void begin(V64 tails) {
    tails.store(message_.words[interleaved::kSeedWords]);
    continued_ = last_;
    if (begun_) return permute(message_.words[0], interleaved::kFirstBlocks - 1);
    polykem::lanes::copy_states(states_[last_].words, message_.words);
    polykem::lanes::keccak_permute8(states_[last_].words[0], polykem::lanes::kIota.at);
    begun_ = true;
  }
  /// Hashes the other blocks.
  void finish() {
    for (size_t block = 0; block + 1 < interleaved::kFirstBlocks; ++block)
      permute(last(), block);
  }
  void end() {
    polykem::lanes::unpack12<kRowBytes>(last(), row(interleaved::kFirstBlocks - 1));
    continued_ = last_;
  }

  /// The polynomial of seed l. May write kWrittenWords words.
  POLYKEM_INLINE void accept(uint16_t* out, size_t l) const {
    const size_t filled = ntt::accept_unpacked<kCandidates>(out, candidates_[l]);
    if (filled < kN) interleaved::accept_more(out, filled, interleaved::single_state(states_[continued_].words, l));
  }

 private:
  static constexpr size_t kBlockCandidates = kCandidates / interleaved::kFirstBlocks;
  static constexpr size_t kRowBytes = kWrittenWords * 2;
  using States = polykem::lanes::EightStates<false>;

  uint8_t* row(size_t block) { return reinterpret_cast<uint8_t*>(candidates_[0] + block * kBlockCandidates); }
  const uint64_t* last() const { return states_[last_].words[0]; }

  /// Permutes `from`, while the last states, block `block` of a polynomial, are unpacked.
  void permute(const uint64_t* from, size_t block) {
    uint64_t* const to = states_[last_ ^ 1].words[0];
    polykem::lanes::keccak_permute8_unpack12<kRowBytes>(to, from, polykem::lanes::kIota.at, last(), row(block));
    last_ ^= 1;
  }

  States message_, states_[2];
  alignas(64) uint16_t candidates_[kStates][kWrittenWords];
  size_t last_ = 0;       ///< which states were permuted last
  size_t continued_ = 0;  ///< which ones continue the candidates
  bool begun_ = false;
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::mlkem::x8
