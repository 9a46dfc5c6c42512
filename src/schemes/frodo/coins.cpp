// SPDX-License-Identifier: Apache-2.0
// The first stage of keygen and encaps, the only one that needs a random generator.
#include <cstring>

#include "prim/drbg/drbg.hpp"
#include "schemes/frodo/state.hpp"
#include "schemes/frodo/steps.hpp"

namespace polykem::frodo::steps {

namespace {

void make_coins(State& state, size_t bytes) {
  for (size_t i = 0; i < state.io.count; ++i) {
    uint8_t* coins = state.items[i].coins;
    if (state.io.coins != nullptr) {
      std::memcpy(coins, state.io.coins + i * bytes, bytes);
    } else {
      state.io.drbg->fill({coins, bytes});
    }
  }
}

}  // namespace

void make_keygen_coins(State& state) {
  make_coins(state, state.set.keygen_coin_bytes());
}

void make_encaps_coins(State& state) {
  make_coins(state, state.set.encaps_coin_bytes());
  place_encaps_coins(state);
}

}  // namespace polykem::frodo::steps
