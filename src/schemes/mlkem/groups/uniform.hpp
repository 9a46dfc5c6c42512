// SPDX-License-Identifier: Apache-2.0
// SampleNTT of eight seeds, polynomial after polynomial. While a permutation runs, the 12-bit integers of the block
// before it go to rows, so that nothing waits for them to be transposed. [FIPS203, Alg 7]
#pragma once

#include "schemes/mlkem/lanes/sample.hpp"

namespace polykem::mlkem::groups {
inline namespace POLYKEM_ISA {

using lanes::kStates, lanes::Seeds, simd::V64;

class UniformRows {
 public:
  static constexpr size_t kCandidates = lanes::kFirstBlocks * lanes::kShake128Rate / 3 * 2;
  /// What accept() may write of a row.
  static constexpr size_t kWrittenWords = (kCandidates + 31) / 32 * 32;

  explicit UniformRows(const Seeds& seeds) {
    message_.clear();
    for (size_t w = 0; w < lanes::kSeedWords; ++w)
      seeds.word[w].store(message_.words[w]);
    V64::set1(uint64_t{1} << 63).store(message_.words[kRateWords - 1]);
  }

  /// Hashes the first block of the seeds with `tails`. After that accept() takes what came before.
  void begin(V64 tails) {
    tails.store(message_.words[lanes::kSeedWords]);
    accepted_ = last_;
    permute(message_.words[0], lanes::kFirstBlocks - 1);
  }
  /// Hashes the other blocks. begin() or end() follows.
  void go_on() {
    for (size_t block = 0; block + 1 < lanes::kFirstBlocks; ++block)
      permute(last(), block);
  }
  /// For accept() to take the last polynomial.
  void end() {
    polykem::lanes::words_to_twelves<kRowBytes>(last(), row(lanes::kFirstBlocks - 1));
    accepted_ = last_;
  }

  /// Polynomial of seed l.
  POLYKEM_INLINE void accept(uint16_t* out, size_t l) const {
    const size_t filled = ntt::accept_twelves<kCandidates>(out, twelves_[l]);
    if (filled < kN) lanes::accept_more(out, filled, lanes::one_of(states_[accepted_].words[0], l));
  }

 private:
  static constexpr size_t kRateWords = lanes::kShake128Rate / 8;
  static constexpr size_t kBlockWords = kCandidates / lanes::kFirstBlocks;  ///< of a row
  static constexpr size_t kRowBytes = kWrittenWords * 2;
  using States = polykem::lanes::EightStates<false>;

  uint8_t* row(size_t block) { return reinterpret_cast<uint8_t*>(twelves_[0] + block * kBlockWords); }
  const uint64_t* last() const { return states_[last_].words[0]; }

  /// Of `from`, while the last states, block `block` of a polynomial, go to the rows.
  void permute(const uint64_t* from, size_t block) {
    uint64_t* const to = states_[last_ ^ 1].words[0];
    polykem::lanes::keccak_permute8_to_twelves<kRowBytes>(to, from, polykem::lanes::kIota.at, last(), row(block));
    last_ ^= 1;
  }

  States message_, states_[2];
  alignas(64) uint16_t twelves_[kStates][kWrittenWords];
  size_t last_ = 0;      ///< which states were permuted last
  size_t accepted_ = 0;  ///< which ones continue the rows
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::mlkem::groups
