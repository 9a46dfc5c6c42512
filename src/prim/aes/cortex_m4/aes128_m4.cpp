// SPDX-License-Identifier: Apache-2.0
#include "prim/aes/cortex_m4/aes128_m4.hpp"

#include <algorithm>

#include "prim/aes/tables/rounds.hpp"

namespace {

/// The values that blocks of one row of the grid share if they differ only in their third byte, the lower byte of j.
/// After the first round such blocks differ only in column 2, so a quarter of the second round is left for each.
struct SharedRounds {
  uint32_t second[4];    ///< the columns after the second round, without what column 2 adds
  uint32_t column2;      ///< column 2 after the first round, without what the third byte adds
  uint32_t key_byte;     ///< the byte of the first round key that is added to the third byte
  uint32_t keys[4 * 8];  ///< the round keys of rounds 3 to 10
};

}  // namespace

/// Encrypts the blocks of a run whose third byte is 0, 8, .. below `end` <= 256, and writes 16 bytes for each.
extern "C" void polykem_aes128_run(uint16_t* out, const SharedRounds* shared, uint32_t end, const uint32_t* table);

namespace polykem::cortex_m4 {

namespace {

using namespace aes::tables;

constexpr size_t kRunColumns = 256;

/// Returns what a byte of row `row` adds to a column in SubBytes and MixColumns.
uint32_t part(uint32_t byte, int row) {
  return std::rotl(kTable[byte & 0xff], 8 * row);
}

/// Computes what the blocks of the run of row i that begins at column j share. j is a multiple of kRunColumns.
void prepare(SharedRounds& shared, const RoundKeys& keys, size_t i, size_t j) {
  const uint32_t* key = keys.words;
  const uint32_t first = static_cast<uint32_t>(i | j << 16) ^ key[0];
  const uint32_t c0 = mixed(first, key[1], key[2], key[3]) ^ key[4];
  const uint32_t c1 = mixed(key[1], key[2], key[3], first) ^ key[5];
  const uint32_t c2 = mixed(key[2], key[3], first, key[1]) ^ key[6];
  const uint32_t c3 = mixed(key[3], first, key[1], key[2]) ^ key[7];
  shared.key_byte = first >> 16 & 0xff;
  shared.column2 = c2 ^ part(shared.key_byte, 2);
  shared.second[0] = mixed(c0, c1, c2, c3) ^ key[8] ^ part(c2 >> 16, 2);
  shared.second[1] = mixed(c1, c2, c3, c0) ^ key[9] ^ part(c2 >> 8, 1);
  shared.second[2] = mixed(c2, c3, c0, c1) ^ key[10] ^ part(c2, 0);
  shared.second[3] = mixed(c3, c0, c1, c2) ^ key[11] ^ part(c2 >> 24, 3);
}

}  // namespace

void aes128_grid(uint16_t* out, size_t stride, const uint8_t key[kAes128KeyBytes], size_t first_row, size_t rows,
                 size_t columns) {
  RoundKeys keys;
  expand_key(keys, key);
  SharedRounds shared;
  std::copy(keys.words + 12, std::end(keys.words), shared.keys);
  for (size_t i = first_row; i < first_row + rows; ++i, out += stride) {
    for (size_t j = 0; j < columns; j += kRunColumns) {
      prepare(shared, keys, i, j);
      polykem_aes128_run(out + j, &shared, static_cast<uint32_t>(std::min(kRunColumns, columns - j)), kTable.data());
    }
  }
}

}  // namespace polykem::cortex_m4
