// SPDX-License-Identifier: Apache-2.0
// Products modulo x^n - 1 of polynomials that lie item after item, by matrix tiles.
#pragma once

#include <cstddef>
#include <cstdint>

#include "prim/aes/aes256_ctr.hpp"

namespace polykem {

/// The polynomials of a batch: coefficient k of item i is word k at `data` + i * `stride` bytes. Both are multiples of
/// 64.
struct WordPolys {
  uint16_t* data;
  size_t stride;
};
struct ConstWordPolys {
  const uint16_t* data;
  size_t stride;
};
/// The polynomials of a batch, with signed bytes as coefficients.
struct ConstBytePolys {
  const int8_t* data;
  size_t stride;
};

/// The products of one ring degree n. Every polynomial has room for `width` coefficients, n rounded up to a multiple of
/// 64. Operands count up to coefficient n - 1; results have undefined words from n on. Results are exact modulo 2^16
/// for all operands of the types. An output may be the same memory as an input of words. `workspace` has
/// workspace_bytes bytes, 64-byte aligned; it holds secrets afterwards, the tile registers do not. No branch and no
/// address depends on the data.
struct TileMulFunctions {
  size_t n;
  size_t width;
  size_t workspace_bytes;

  /// mul_bytes, mul_words_bytes and mul_words compute c = a b modulo (2^16, x^n - 1) for `count` items.
  void (*mul_bytes)(WordPolys c, ConstBytePolys a, ConstBytePolys b, size_t count, void* workspace);
  void (*mul_words_bytes)(WordPolys c, ConstWordPolys a, ConstBytePolys b, size_t count, void* workspace);
  void (*mul_words)(WordPolys c, ConstWordPolys a, ConstWordPolys b, size_t count, void* workspace);
  /// Computes mul_words_bytes and meanwhile writes exactly `bytes` bytes of the keystream, from its counter on, to
  /// `out`, which overlaps nothing.
  void (*mul_words_bytes_and_keystream)(WordPolys c, ConstWordPolys a, ConstBytePolys b, size_t count, void* workspace,
                                        uint8_t* out, size_t bytes, const Aes256Keystream& stream);
};

/// Returns the table for n = 509, 677, 701, 821, 1229 or 1373, and nullptr for any other n. Calling its functions needs
/// the CPU features of the backend `amx` and the kernel's permission to use the tiles.
const TileMulFunctions* tile_mul_amx(size_t n);

}  // namespace polykem
