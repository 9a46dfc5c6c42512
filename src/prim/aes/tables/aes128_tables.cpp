// SPDX-License-Identifier: Apache-2.0
#include "prim/aes/tables/aes128_tables.hpp"

#include "prim/aes/tables/rounds.hpp"

namespace polykem {

namespace {

using namespace aes::tables;

void encrypt(uint8_t* out, const uint8_t* in, size_t blocks, const uint8_t key[kAes128KeyBytes]) {
  RoundKeys keys;
  expand_key(keys, key);
  for (; blocks > 0; --blocks, in += kAes128BlockBytes, out += kAes128BlockBytes) {
    const Block block = encrypt_block({load(in), load(in + 4), load(in + 8), load(in + 12)}, keys);
    store(out, block.c0);
    store(out + 4, block.c1);
    store(out + 8, block.c2);
    store(out + 12, block.c3);
  }
}

void grid(uint16_t* out, size_t stride, const uint8_t key[kAes128KeyBytes], size_t first_row, size_t rows,
          size_t columns) {
  RoundKeys keys;
  expand_key(keys, key);
  for (size_t i = first_row; i < first_row + rows; ++i, out += stride) {
    for (size_t j = 0; j < columns; j += 8) {
      const Block block = encrypt_block({static_cast<uint32_t>(i | j << 16), 0, 0, 0}, keys);
      const uint32_t words[] = {block.c0, block.c1, block.c2, block.c3};
      for (size_t k = 0; k < 4; ++k) {
        out[j + 2 * k] = static_cast<uint16_t>(words[k]);
        out[j + 2 * k + 1] = static_cast<uint16_t>(words[k] >> 16);
      }
    }
  }
}

}  // namespace

constinit const Aes128Functions kAes128Tables = {encrypt, grid};

}  // namespace polykem
