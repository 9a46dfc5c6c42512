// SPDX-License-Identifier: Apache-2.0
// Samples errors from 32 words at a time.
#pragma once

#include <immintrin.h>

#include "prim/simd/vec16.hpp"
#include "schemes/frodo/params.hpp"

namespace polykem::frodo::lanes {
inline namespace POLYKEM_ISA {

using simd::V16;

/// A binary search of four steps, in which every lane does the same. Each step has the thresholds that it may need in a
/// register of its own, and looks them up by the count so far. [FRODO21, Alg 5]
class Sampler {
 public:
  explicit Sampler(const Cdf& cdf) {
    for (size_t s = 0; s < kSteps; ++s) {
      alignas(64) uint16_t words[V16::kLanes] = {};
      for (size_t e = 0; e < size_t{1} << kSteps; ++e) {
        const size_t at = e + (kFirst >> s) - 1;
        words[e] = at < cdf.at.size() && at < cdf.size - 1 ? cdf.at[at] : 0xffff;
      }
      threshold_[s] = _mm512_load_si512(words);
    }
  }

  POLYKEM_INLINE V16 sample(V16 word) const {
    const __m512i position = _mm512_srli_epi16(word.r, 1), zero = _mm512_setzero_si512();
    __m512i e = zero;  // the number of thresholds that are known to be below the position
    for (size_t s = 0; s < kSteps; ++s) {
      const __mmask32 below = _mm512_cmplt_epu16_mask(_mm512_permutexvar_epi16(e, threshold_[s]), position);
      e = _mm512_mask_add_epi16(e, below, e, _mm512_set1_epi16(kFirst >> s));
    }
    return {_mm512_mask_sub_epi16(e, _mm512_test_epi16_mask(word.r, _mm512_set1_epi16(1)), zero, e)};
  }

 private:
  static constexpr size_t kSteps = 4, kFirst = 8;
  static_assert(kMaxCdf <= 2 * kFirst);
  __m512i threshold_[kSteps];  ///< of step s: lane e holds threshold e + (kFirst >> s) - 1
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::frodo::lanes
