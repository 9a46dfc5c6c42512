// SPDX-License-Identifier: Apache-2.0
// The PRF of eight seeds, nonce by nonce. Output is written to rows while the next states are permuted. [FIPS203, 4.1]
#pragma once

#include <algorithm>
#include <utility>

#include "prim/keccak/avx512/overlapped.hpp"
#include "schemes/mlkem/interleaved/sample.hpp"

namespace polykem::mlkem::x8 {
inline namespace POLYKEM_ISA {

using interleaved::kStates, interleaved::Seeds, simd::V64;

struct RowPointers {
  uint8_t* at[kStates];
};

class NoisePrf {
 public:
  explicit NoisePrf(const Seeds& seeds) {
    message_.clear();
    interleaved::set_messages<interleaved::kShake256Rate>(message_.words, seeds);
  }

  /// Writes the first 64 kEta bytes for `nonce` and seed l to row l, from byte `at` on. The following next() or end()
  /// writes the end of them; until then, `rows` must exist.
  template <unsigned kEta>
  void next(size_t nonce, const RowPointers& rows, size_t at) {
    constexpr size_t kWords = 8 * kEta;
    static_assert(kWords % kRateWords >= 3, "fewer words cannot be moved");
    V64::set1(interleaved::prf_tail(nonce)).store(message_.words[interleaved::kSeedWords]);
    const States* from = &message_;
    for (size_t done = 0; done < kWords; done += kRateWords) {
      permute(*from);
      rows_ = &rows;
      at_ = at + done * 8;
      words_ = std::min(kRateWords, kWords - done);
      from = now_;
    }
  }

  /// Writes the output that waits.
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
  using States = polykem::keccak::EightStates<true>;
  static constexpr size_t kRateWords = interleaved::kShake256Rate / 8;

  /// Permutes `from`, and meanwhile writes the output that waits.
  void permute(const States& from) {
    using namespace polykem::keccak;
    if (rows_ == nullptr) {
      copy_states(next_->words, from.words);
      keccak_permute8(next_->words[0], kIota.at);
    } else {
      keccak_permute8_to_rows(next_->words[0], from.words[0], kIota.at, now_->words[0], rows_->at, at_, words_);
    }
    std::swap(now_, next_);
  }

  States message_, states_[2];
  States *now_ = &states_[0], *next_ = &states_[1];
  const RowPointers* rows_ = nullptr;  ///< the rows that wait for words 0 to words_ - 1 of *now_
  size_t at_ = 0, words_ = 0;
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::mlkem::x8
