// SPDX-License-Identifier: Apache-2.0
// The first stage of keygen and encaps, the only one that needs a random generator.
#include <cstring>

#include "prim/drbg/drbg.hpp"
#include "schemes/frodo/chunk.hpp"
#include "schemes/frodo/ops.hpp"

namespace polykem::frodo::ops {

namespace {

void make_coins(Chunk& c, size_t bytes) {
  for (size_t i = 0; i < c.io.count; ++i) {
    uint8_t* coins = c.items[i].coins;
    if (c.io.coins != nullptr) {
      std::memcpy(coins, c.io.coins + i * bytes, bytes);
    } else {
      c.io.drbg->fill({coins, bytes});
    }
  }
}

}  // namespace

void make_keygen_coins(Chunk& c) {
  make_coins(c, c.set.keygen_coin_bytes());
}

void make_encaps_coins(Chunk& c) {
  make_coins(c, c.set.encaps_coin_bytes());
  place_encaps_coins(c);
}

}  // namespace polykem::frodo::ops
