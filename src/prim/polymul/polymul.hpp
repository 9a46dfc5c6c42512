// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace polykem {

/// The products of one ring degree n on one instruction set; see docs/adr/0002-ntru-products-on-the-cpu.md.
///
/// The interleaved layout (mul_cyclic, mul_s3) has `lanes` items at once. A polynomial is n rows of `lanes`
/// 16-bit words, with coefficient i of item l at [i * lanes + l], rows ascending, 64-byte aligned. Unused lanes may
/// hold anything. The single layout (the _single functions) has n consecutive words of any alignment.
///
/// c may be a or b, but must not overlap them in part; a and b are otherwise only read. `workspace` is a workspace of
/// at least the stated number of bytes, 64-byte aligned, not overlapping a, b or c; nothing is allocated. The workspace
/// holds secrets afterwards: the caller zeroizes it. No branch and no address depends on the data.
struct PolymulFunctions {
  size_t n;
  size_t lanes;
  /// Coefficients of a product are exact modulo 2^exact_bits; q of every parameter set with this n divides
  /// 2^exact_bits. For mul_cyclic_single, that is 2^exact_bits_single, which is above 4 n: sums of products of 0, 1
  /// and 2 are exact.
  unsigned exact_bits;
  unsigned exact_bits_single;
  size_t workspace_bytes;
  size_t workspace_single_bytes;
  /// Computes c = a b modulo (2^exact_bits, x^n - 1). Operands are any 16-bit words, which stand for integers modulo
  /// 2^16 (a ternary operand is 0, 1, 0xffff). The result is not reduced; the bits above exact_bits are undefined.
  void (*mul_cyclic)(uint16_t* c, const uint16_t* a, const uint16_t* b, void* workspace);
  /// Computes c = a b modulo (3, Phi_n). Operands are 0, 1, 2 (or 0xffff for 2). The result is 0, 1, 2, and its last
  /// coefficient is 0.
  void (*mul_s3)(uint16_t* c, const uint16_t* a, const uint16_t* b, void* workspace);
  /// mul_cyclic_single, modulo 2^exact_bits_single, and mul_s3_single compute these products for a single item.
  void (*mul_cyclic_single)(uint16_t* c, const uint16_t* a, const uint16_t* b, void* workspace);
  void (*mul_s3_single)(uint16_t* c, const uint16_t* a, const uint16_t* b, void* workspace);
};

/// polymul_avx2(), polymul_avx512() and polymul_neon() return the table for n = 509, 677, 701, 821, 1229 or 1373,
/// and nullptr for any other n. Calling the functions of a table needs the CPU features of its backend: AVX2 and BMI2;
/// AVX-512 F, BW, VL, DQ, VBMI. Look it up once per batch.
const PolymulFunctions* polymul_avx2(size_t n);
const PolymulFunctions* polymul_avx512(size_t n);
const PolymulFunctions* polymul_neon(size_t n);

}  // namespace polykem
