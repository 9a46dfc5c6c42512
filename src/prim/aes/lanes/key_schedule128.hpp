// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/secure.hpp"
#include "prim/aes/lanes/key_schedule.hpp"

namespace polykem::aes {
inline namespace POLYKEM_ISA {

/// The round keys of AES-128. The destructor zeroizes them. [FIPS197, 5.2]
struct RoundKeys128 {
  static constexpr size_t kRounds = 10;
  __m128i at[kRounds + 1];

  explicit RoundKeys128(const uint8_t* key) {
    at[0] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(key));
    next<0x01>(0);
    next<0x02>(1);
    next<0x04>(2);
    next<0x08>(3);
    next<0x10>(4);
    next<0x20>(5);
    next<0x40>(6);
    next<0x80>(7);
    next<0x1b>(8);
    next<0x36>(9);
  }
  ~RoundKeys128() { zeroize(at, sizeof at); }

 private:
  template <int kConstant>
  POLYKEM_INLINE void next(size_t i) {
    at[i + 1] = chain_words(at[i], _mm_shuffle_epi32(_mm_aeskeygenassist_si128(at[i], kConstant), 0xff));
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::aes
