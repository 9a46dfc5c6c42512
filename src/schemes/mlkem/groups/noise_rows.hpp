// SPDX-License-Identifier: Apache-2.0
// The PRF of eight seeds, nonce by nonce. What it puts out goes to rows while the next permutation runs. [FIPS203, 4.1]
#pragma once

#include <utility>

#include "schemes/mlkem/lanes/sample.hpp"

namespace polykem::mlkem::groups {
inline namespace POLYKEM_ISA {

using lanes::kStates, lanes::Seeds, simd::V64;

/// Rows of a table, row l at at[l].
struct Rows {
  uint8_t* at[kStates];
};

class NoiseRows {
 public:
  explicit NoiseRows(const Seeds& seeds) {
    message_.clear();
    for (size_t w = 0; w < lanes::kSeedWords; ++w)
      seeds.word[w].store(message_.words[w]);
    V64::set1(uint64_t{1} << 63).store(message_.words[kRateWords - 1]);
  }

  /// Row l from byte `at` on = `words` <= 24 words for `nonce` and seed l, as soon as next() or end() is called.
  void next(size_t nonce, const Rows& rows, size_t at, size_t words) {
    V64::set1(lanes::prf_tail(nonce)).store(message_.words[lanes::kSeedWords]);
    permute(message_);
    rows_ = &rows;
    at_ = at;
    words_ = words;
    if (words <= kRateWords) return;
    words_ = kRateWords;
    permute(*now_);
    at_ = at + kRateWords * 8;
    words_ = words - kRateWords;
  }

  void end() {
    for (size_t w = 0; w < words_; w += kStates) {
      V64 v[kStates];
      for (size_t j = 0; j < kStates; ++j)
        v[j] = V64::load(now_->words[w + j]);
      transpose_words(v);
      for (size_t l = 0; l < kStates; ++l)
        v[l].store_first(rows_->at[l] + at_ + w * 8, std::min(size_t{64}, (words_ - w) * 8));
    }
  }

 private:
  using States = polykem::lanes::EightStates<true>;
  static constexpr size_t kRateWords = lanes::kShake256Rate / 8;

  void permute(const States& from) {
    using polykem::lanes::kIota;
    if (rows_ == nullptr) {
      polykem::lanes::keccak_permute8(next_->words[0], from.words[0], kIota.at);
    } else {
      polykem::lanes::keccak_permute8_to_rows(next_->words[0], from.words[0], kIota.at, now_->words[0], rows_->at, at_,
                                              words_);
    }
    std::swap(now_, next_);
  }

  States message_, states_[2];
  States *now_ = &states_[0], *next_ = &states_[1];
  const Rows* rows_ = nullptr;  ///< that wait for words 0 to words_ - 1 of *now_
  size_t at_ = 0, words_ = 0;
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::mlkem::groups
