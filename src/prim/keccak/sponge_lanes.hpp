// SPDX-License-Identifier: Apache-2.0
// The form in which a sponge keeps its lanes. It is linear, so messages are added in this form.
#pragma once

#include <cstdint>

#include "prim/keccak/keccak.hpp"
#ifdef POLYKEM_CORTEX_M4
#include "prim/keccak/cortex_m4/lanes.hpp"
#endif

namespace polykem::keccak {

#ifdef POLYKEM_CORTEX_M4

inline uint64_t from_word(uint64_t word) {
  return cortex_m4::interleaved(word);
}
inline uint64_t to_word(uint64_t lane) {
  return cortex_m4::restored(lane);
}
inline void permute(uint64_t state[25]) {
  cortex_m4::keccak_interleaved(state);
}

#else

inline uint64_t from_word(uint64_t word) {
  return word;
}
inline uint64_t to_word(uint64_t lane) {
  return lane;
}
inline void permute(uint64_t state[25]) {
  keccak_f1600(state);
}

#endif

}  // namespace polykem::keccak
