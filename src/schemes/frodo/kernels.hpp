// SPDX-License-Identifier: Apache-2.0
// What FrodoKEM's stages are computed with: one table per instruction set.
#pragma once

#include "prim/aes/aes128.hpp"
#include "prim/aes/aes256_ctr.hpp"
#include "prim/keccak/keccak_lanes.hpp"
#include "prim/matmul/matmul.hpp"
#include "schemes/frodo/params.hpp"

namespace polykem::frodo {

/// Addresses and branches of all of these depend on sizes only. Pointers need no alignment.
struct Kernels {
  const MatMul& matmul;
  const Aes128& aes;
  const KeccakLanes* keccak;  ///< nullptr: one message at a time
  Aes256Ctr keystream;        ///< for the random generator; nullptr: it expands with SHAKE256

  /// Little-endian 16-bit words to errors mod 2^16, in place. Bit 0 is the sign, the rest the position in the
  /// distribution. [FRODO21, Alg 5]
  void (*sample)(uint16_t* words, size_t count, const Cdf& cdf);
  /// The low D bits of coefficients, the most significant bit first. `count`: a multiple of 8. D is 15 or 16.
  /// [FRODO21, Alg 3]
  void (*pack)(uint8_t* out, const uint16_t* in, size_t count, unsigned logq);
  /// [FRODO21, Alg 4]
  void (*unpack)(uint16_t* out, const uint8_t* in, size_t count, unsigned logq);
  /// Unpacks an n x 8 matrix and transposes it.
  void (*unpack_transposed)(Matrix16 out, const uint8_t* in, size_t n, unsigned logq);
};

extern const Kernels kKernelsRef;
extern const Kernels kKernelsAvx2;
extern const Kernels kKernelsAvx512;

}  // namespace polykem::frodo
