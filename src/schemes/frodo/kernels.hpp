// SPDX-License-Identifier: Apache-2.0
// The functions that FrodoKEM's stages call: one table per instruction set.
#pragma once

#include "prim/aes/aes128.hpp"
#include "prim/keccak/keccak_lanes.hpp"
#include "schemes/frodo/matmul/matmul.hpp"
#include "schemes/frodo/params.hpp"
#include "schemes/frodo/row_products.hpp"
#include "schemes/frodo/tile_products.hpp"

namespace polykem::frodo {

/// The most rows of A that are made at a time.
inline constexpr size_t kMaxGeneratedRows = 64;

/// The addresses and branches of all these functions depend on sizes only, those of aes.grid also on the public seed of
/// A. Pointers need no alignment.
struct Kernels {
  const MatMulFunctions& matmul;
  const Aes128Functions& aes;
  const KeccakFunctions* keccak;  ///< nullptr: one message at a time

  /// Turns little-endian 16-bit words into errors mod 2^16, in place. Bit 0 is the sign, the rest the position in the
  /// distribution. [FRODO21, Alg 5]
  void (*sample)(uint16_t* words, size_t count, const Cdf& cdf);
  /// Packs the low D bits of coefficients, the most significant bit first. `count`: a multiple of 8. D is 15 or 16.
  /// [FRODO21, Alg 3]
  void (*pack)(uint8_t* out, const uint16_t* in, size_t count, unsigned logq);
  /// Unpacks coefficients of D bits, the inverse of pack. [FRODO21, Alg 4]
  void (*unpack)(uint16_t* out, const uint8_t* in, size_t count, unsigned logq);
  /// Unpacks an n x 8 matrix and transposes it.
  void (*unpack_transposed)(Matrix16 out, const uint8_t* in, size_t n, unsigned logq);

  const TileProductFunctions* tiles = nullptr;  ///< nullptr: `matmul` computes the products with A
  /// Products for items with their own keys, with an A by SHAKE and by AES; nullptr: `tiles` or `matmul` computes them.
  const RowProductFunctions* shake_products = nullptr;
  const RowProductFunctions* aes_products = nullptr;
  const RowProductFunctions* row_products(GenA gen_a) const {
    return gen_a == GenA::kShake ? shake_products : aes_products;
  }

  /// The number of rows of A in a tile: enough to pay for loading and storing the sums, few enough to stay in the L2
  /// cache. With `tiles`, a multiple of 64.
  size_t tile_rows = kMaxGeneratedRows;
};

extern const Kernels kKernelsRef;
extern const Kernels kKernelsAvx2;
extern const Kernels kKernelsAvx2Vaes;
extern const Kernels kKernelsAvx512;
extern const Kernels kKernelsAvx512Intel;
extern const Kernels kKernelsAvx512Zen5;
extern const Kernels kKernelsAmx;
extern const Kernels kKernelsNeon;
extern const Kernels kKernelsNeonWithoutAes;
extern const Kernels kKernelsNeonSha3;

}  // namespace polykem::frodo
