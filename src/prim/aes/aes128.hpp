// SPDX-License-Identifier: Apache-2.0
// AES-128 over many blocks, and over the grid of blocks that makes up FrodoKEM's matrix. [FIPS197]
#pragma once

#include <cstddef>
#include <cstdint>

namespace polykem {

inline constexpr size_t kAes128KeyBytes = 16;
inline constexpr size_t kAes128BlockBytes = 16;

/// The functions of one instruction set. No branch and no address depends on the key or the blocks, except in
/// kAes128Tables (tables/aes128_tables.hpp), which is for public keys and blocks only.
struct Aes128Functions {
  /// Encrypts `blocks` blocks of 16 bytes independently (ECB). `out` may be `in`.
  void (*encrypt)(uint8_t* out, const uint8_t* in, size_t blocks, const uint8_t key[kAes128KeyBytes]);
  /// Writes rows [first_row, first_row + rows) of a matrix with `columns` columns, a multiple of 8. For j = 0, 8, ..,
  /// entries j .. j + 7 of row i are the little-endian 16-bit words of AES-128 of the block that begins with the words
  /// i and j and is zero otherwise. Row first_row + k begins at out + k * stride; `stride` counts words.
  /// [FRODO21, Algorithm 7]
  void (*grid)(uint16_t* out, size_t stride, const uint8_t key[kAes128KeyBytes], size_t first_row, size_t rows,
               size_t columns);
};

extern const Aes128Functions kAes128Portable;  ///< bit-sliced, without tables
extern const Aes128Functions kAes128Avx2;      ///< AES-NI, eight blocks in flight
extern const Aes128Functions kAes128Avx2Vaes;  ///< VAES, two blocks per instruction
extern const Aes128Functions kAes128Avx512;    ///< VAES, four blocks per instruction
extern const Aes128Functions kAes128Neon;      ///< AArch64's AES extension, eight blocks in flight

}  // namespace polykem
