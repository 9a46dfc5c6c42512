// SPDX-License-Identifier: Apache-2.0
#include "prim/keccak/constants.hpp"
#include "prim/keccak/cortex_m4/lanes.hpp"
#include "prim/keccak/keccak.hpp"

namespace polykem {

namespace {

using keccak::kIota, keccak::kKeccakRounds;

struct Constants {
  uint32_t words[2 * kKeccakRounds];
};
constexpr Constants kConstants = [] {
  Constants constants{};
  for (size_t i = 0; i < kKeccakRounds; ++i) {
    const uint64_t lane = cortex_m4::interleaved(kIota.at[i]);
    constants.words[2 * i] = static_cast<uint32_t>(lane);
    constants.words[2 * i + 1] = static_cast<uint32_t>(lane >> 32);
  }
  return constants;
}();

}  // namespace

namespace cortex_m4 {

void keccak_interleaved(uint64_t state[25]) {
  polykem_keccak_rounds(reinterpret_cast<uint32_t*>(state), kConstants.words, kConstants.words + 2 * kKeccakRounds);
}

}  // namespace cortex_m4

void keccak_f1600(uint64_t state[25]) {
  for (int i = 0; i < 25; ++i)
    state[i] = cortex_m4::interleaved(state[i]);
  cortex_m4::keccak_interleaved(state);
  for (int i = 0; i < 25; ++i)
    state[i] = cortex_m4::restored(state[i]);
}

}  // namespace polykem
