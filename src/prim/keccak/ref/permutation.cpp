// SPDX-License-Identifier: Apache-2.0
#include "prim/keccak/keccak.hpp"
#include "prim/keccak/words.hpp"

namespace polykem {

void keccak_f1600(uint64_t state[25]) {
  keccak::permute_words(state);
}

}  // namespace polykem
